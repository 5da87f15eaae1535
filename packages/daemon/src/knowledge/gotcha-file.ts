import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, Gotcha } from '@tidemill/contract';
import { gotchasFor } from '@tidemill/core';
import { z } from 'zod';
import { YamlFile } from '../config/document.ts';
import type { Knowledge } from '../ports.ts';

const GOTCHA_FILE = '.tidemill/gotchas.yaml';
const LEAST_CONFIDENCE = 0.6;

/** A project's own list of known problems. It is read for each question, so that an edit takes effect at once. */
export function gotchaFile(root: string): Knowledge {
  const read = async (): Promise<Gotcha[]> => {
    let text: string;
    try {
      text = await readFile(join(root, GOTCHA_FILE), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw new AppError('bad_config', `${GOTCHA_FILE} cannot be read: ${(error as Error).message}`, { cause: error });
    }
    return text.trim() === '' ? [] : new YamlFile(GOTCHA_FILE, text).parse(z.array(Gotcha));
  };
  return {
    gotchas: async (about) => gotchasFor(await read(), about),
    all: async () => (await read()).filter(({ confidence }) => confidence >= LEAST_CONFIDENCE),
  };
}
