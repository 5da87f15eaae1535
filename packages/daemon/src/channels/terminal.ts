import type { Channel } from '../ports.ts';
import { ChannelError } from './channel-error.ts';
import { bodyText, headline } from './render.ts';
import type { Screens } from './screens.ts';

const LIMIT = 2000;

export function openTerminalChannel(screens: Screens): Channel {
  return {
    line: 'terminal',
    async send(message) {
      const body = bodyText(message, LIMIT, { isAnswerable: false });
      if (!screens.show(`${headline(message, LIMIT)}\n${body}`))
        throw new ChannelError('down', 'no terminal shows this project', { hint: 'Run `tidemill up` in one.' });
      return null;
    },
    close: async () => undefined,
  };
}
