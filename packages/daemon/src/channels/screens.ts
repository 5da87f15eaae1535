/** The terminals in which `tidemill up` runs. They show the messages of the terminal channel. */
export class Screens {
  readonly #screens = new Set<(text: string) => void>();

  add(show: (text: string) => void): () => void {
    this.#screens.add(show);
    return () => void this.#screens.delete(show);
  }

  /** False when no terminal is open. */
  show(text: string): boolean {
    for (const show of this.#screens) show(text);
    return this.#screens.size > 0;
  }
}
