import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, Gotcha, INSTRUCTION_FILES } from '@tidemill/contract';
import { gotchasFor } from '@tidemill/core';
import { z } from 'zod';
import { YamlFile } from '../config/document.ts';
import type { Knowledge } from '../ports.ts';

const GOTCHA_FILE = '.tidemill/gotchas.yaml';
const LEAST_CONFIDENCE = 0.6;

/** A project's own list of known problems. It is read for each question, so that an edit takes effect at once. */
export function gotchaFile(root: string): Knowledge {
  const textOf = async (file: string): Promise<string> => {
    try {
      return await readFile(join(root, file), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw new AppError('bad_config', `${file} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  };
  const read = async (): Promise<Gotcha[]> => {
    const text = await textOf(GOTCHA_FILE);
    return text.trim() === '' ? [] : new YamlFile(GOTCHA_FILE, text).parse(z.array(Gotcha));
  };
  return {
    gotchas: async (about) => gotchasFor(await read(), about),
    all: async () => (await read()).filter(({ confidence }) => confidence >= LEAST_CONFIDENCE),
    instructions: () => Promise.all(INSTRUCTION_FILES.map(textOf)),
  };
}
