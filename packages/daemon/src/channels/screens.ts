/** Who shows what the terminal channel has to say: the terminals in which `tidemill up` runs. */
export class Screens {
  readonly #screens = new Set<(text: string) => void>();

  add(show: (text: string) => void): () => void {
    this.#screens.add(show);
    return () => void this.#screens.delete(show);
  }

  /** False when nobody looks. */
  show(text: string): boolean {
    for (const show of this.#screens) show(text);
    return this.#screens.size > 0;
  }
}
