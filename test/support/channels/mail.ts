import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { Inflow } from './loopback.ts';

export interface Mail {
  from: string;
  to: string[];
  raw: string;
}

/** A mail server that keeps the mails it gets. */
export class MailStandIn {
  readonly mails = new Inflow<Mail>();
  readonly password = 'letters-and-digits-42';
  port = 0;
  readonly #server: SMTPServer;

  constructor() {
    this.#server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, callback) => {
        if (username === 'mill' && password === this.password) callback(null, { user: username });
        else callback(Object.assign(new Error('Invalid login'), { responseCode: 535 }));
      },
      onData: (stream, { envelope }, callback) => {
        let raw = '';
        stream.setEncoding('utf8');
        stream.on('data', (chunk: string) => (raw += chunk));
        stream.on('end', () => {
          const from = envelope.mailFrom ? envelope.mailFrom.address : '';
          this.mails.put({ from, to: envelope.rcptTo.map(({ address }) => address), raw });
          callback();
        });
      },
    });
  }

  async listen(): Promise<void> {
    const listening = this.#server.listen(0, '127.0.0.1');
    await once(listening, 'listening');
    this.port = (listening.address() as AddressInfo).port;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
