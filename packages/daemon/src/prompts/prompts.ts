import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, type Mode } from '@tidemill/contract';
import type { Prompts } from '../ports.ts';
import { contextSection, sectionsOf } from './sections.ts';
import { fillTemplate, parseTemplate, type Template } from './template.ts';

export interface PromptsOptions {
  /** The repository's root: `.tidemill/agents/<mode>.md` in it replaces a built-in template. */
  root: string;
  /** Where the built-in templates lie, one `<mode>.md` each. */
  builtinDir: string;
}

/** Templates are read anew for each run, so that an edit counts from the next run on. */
export function createPrompts({ root, builtinDir }: PromptsOptions): Prompts {
  return {
    async render({ task, mode, ...rest }) {
      const template = await templateFor(mode, root, builtinDir);
      const sections = sectionsOf({ task, ...rest }, template.uses);
      const text = fillTemplate(template, sections);
      // A template that forgets the feedback must not leave the agent to make the same mistake again.
      const feedback = template.uses.has('feedbackSection') ? '' : sections.feedbackSection;
      const prompt = `${contextSection(task)}${text}${feedback === '' ? '' : `\n${feedback}`}`;
      const promptTokens = Math.ceil(prompt.length / 4);
      return { prompt, promptTokens, dropped: [], model: null, tools: null, maxTurns: null, timeoutMs: null };
    },
  };
}

async function templateFor(mode: Mode, root: string, builtinDir: string): Promise<Template> {
  const name = `.tidemill/agents/${mode}.md`;
  const override = await textOf(path.join(root, name));
  if (override !== null) return parseTemplate(override, name, mode);
  const file = path.join(builtinDir, `${mode}.md`);
  const builtin = await textOf(file);
  if (builtin === null) {
    throw new AppError('internal', `the built-in prompt ${file} is missing`, { hint: 'install Tidemill anew' });
  }
  return parseTemplate(builtin, file, mode);
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new AppError('bad_config', `${file} cannot be read: ${(error as Error).message}`, {
      hint: 'it must be a readable Markdown file, or not be there',
      cause: error,
    });
  }
}
