import { renameSync, statSync } from 'node:fs';
import { withoutSecrets } from '@tidemill/contract';
import { pino } from 'pino';

const ROTATE_BYTES = 5 * 1024 * 1024;

export interface Log {
  info(text: string, more?: object): void;
  error(text: string, error: unknown): void;
  close(): void;
}

/** The daemon's own log: one JSON object per line, without secrets. The previous file is kept beside it. */
export function openLog(file: string): Log {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > ROTATE_BYTES) renameSync(file, `${file}.1`);
  const destination = pino.destination({ dest: file, sync: true, mode: 0o600 });
  // On a full disk the daemon continues without its log. It reports this once.
  let isLost = false;
  destination.on('error', (error) => {
    if (!isLost) process.stderr.write(`tidemill: ${file} cannot be written: ${error.message}\n`);
    isLost = true;
  });
  destination.on('write', () => {
    isLost = false;
  });
  const logger = pino({ base: null, redact: ['token', '*.token', 'authorization', '*.authorization'] }, destination);
  let isClosed = false;
  return {
    info: (text, more = {}) => {
      if (!isClosed) logger.info(more, withoutSecrets(text));
    },
    error: (text, error) => {
      const why = withoutSecrets(describe(error));
      // Something that ends late must not fail because of the log.
      if (isClosed) process.stderr.write(`tidemill: ${withoutSecrets(text)}: ${why}\n`);
      else logger.error({ error: why }, withoutSecrets(text));
    },
    close: () => {
      if (!isClosed) destination.end();
      isClosed = true;
    },
  };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${describe(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
