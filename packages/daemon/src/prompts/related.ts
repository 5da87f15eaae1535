import type { RelatedTask } from '../ports.ts';
import { quoted } from './changed-files.ts';
import { section } from './text.ts';

/** More names say little about what a task changed. */
const MOST_FILES = 15;

const HEADINGS: Record<RelatedTask['relation'], string> = {
  'depends on': 'This task builds on it',
  'needed by': 'It waits for this task',
  'same files': 'It declares some of the same files',
};

/** One related task. Its words come from people and agents, so each stays within its line. */
export function relatedText(
  { relation, number, title, stage, about, done, files, isLanded }: RelatedTask,
  target: string,
): string {
  const where = isLanded ? `landed on ${target}, so it is in your folder already` : `in stage ${stage}`;
  return [
    `- #${number} ${line(title)}. ${HEADINGS[relation]}; ${where}.`,
    ...(line(about) === '' ? [] : [`  - About: ${line(about)}`]),
    ...(line(done) === '' ? [] : [`  - Done: ${line(done)}`]),
    ...(files.length === 0 ? [] : [`  - Changed: ${names(files)}`]),
  ].join('\n');
}

export const relatedSection = (pieces: string[]) => section('Related work', pieces, 'Other tasks of this project:');

const line = (text: string) => text.replace(/\s+/g, ' ').trim();

function names(files: string[]): string {
  const shown = files.slice(0, MOST_FILES).map(quoted).join(', ');
  return files.length > MOST_FILES ? `${shown} and ${files.length - MOST_FILES} more` : shown;
}
