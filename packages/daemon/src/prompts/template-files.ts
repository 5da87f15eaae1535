import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, hasPrompt, type JobMode, Mode, nearest, TaskMode } from '@tidemill/contract';
import { jobPlaceholders } from './job-prompt.ts';
import { QUESTIONS, TEMPLATE_FOLDER } from './prompts.ts';
import { PLACEHOLDERS, parseTemplate } from './template.ts';

/** What is wrong with a project's own templates, each with file and line. Runs in that mode use the built-in one. */
export async function templateFaults(root: string): Promise<string[]> {
  const names = await readdir(path.join(root, TEMPLATE_FOLDER)).catch(() => []); // most projects have none
  const faults = names
    .filter((name) => name.endsWith('.md') && name !== QUESTIONS)
    .sort()
    .map((name) => faultOf(root, name));
  return (await Promise.all(faults)).filter((fault) => fault !== null);
}

async function faultOf(root: string, name: string): Promise<string | null> {
  const file = `${TEMPLATE_FOLDER}/${name}`;
  const mode = Mode.safeParse(name.replace(/\.md$/, ''));
  if (!mode.success || !hasPrompt(mode.data)) {
    const modes = Mode.options.filter(hasPrompt);
    const guess = nearest(name.replace(/\.md$/, ''), modes);
    const advice = guess ? `did you mean ${guess}.md?` : `the modes are ${modes.join(', ')}`;
    return `${file} is used by no mode; ${advice}`;
  }
  const ofTasks = TaskMode.safeParse(mode.data);
  try {
    const text = await readFile(path.join(root, file), 'utf8');
    parseTemplate<string>(
      text,
      file,
      mode.data,
      ofTasks.success ? PLACEHOLDERS : jobPlaceholders(mode.data as JobMode),
    );
    return null;
  } catch (error) {
    if (error instanceof AppError) return `${error.message}; until then the built-in prompt is used`;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return `${file} cannot be read: ${message}; until then the built-in prompt is used`;
  }
}
