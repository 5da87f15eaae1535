import type { Channel } from '../ports.ts';
import { bodyText, headline } from './render.ts';
import { ChannelTrouble } from './trouble.ts';

const LIMIT = 2000;

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

export function openTerminalChannel(screens: Screens): Channel {
  return {
    line: 'terminal',
    async send(message) {
      const body = bodyText(message, LIMIT, { isAnswerable: false });
      if (!screens.show(`${headline(message, LIMIT)}\n${body}`))
        throw new ChannelTrouble('down', 'no terminal shows this project', { hint: 'Run `tidemill up` in one.' });
      return null;
    },
    close: async () => undefined,
  };
}
