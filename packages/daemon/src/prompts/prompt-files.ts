import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@tidemill/contract';
import type { PromptFiles } from '../ports.ts';

/** The texts of prompts and categories: the project's own file, or the one that ships with Tidemill. */
export function createPromptFiles({ root, builtinDir }: { root: string; builtinDir: string }): PromptFiles {
  return {
    async read(file) {
      const own = await textOf(path.join(root, file));
      const text = own ?? (await textOf(path.join(builtinDir, file.replace(/^\.tidemill\//, ''))));
      if (text !== null) return text;
      throw new AppError('bad_input', `there is no prompt ${file}`, {
        hint: 'Name a file of the project, or one that ships with Tidemill, such as .tidemill/agents/implement.md.',
      });
    },
    async write(file, text) {
      const target = path.join(root, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(`${target}.new`, text);
      await rename(`${target}.new`, target);
    },
  };
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
