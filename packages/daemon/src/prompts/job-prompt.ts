import type { Job, JobMode } from '@tidemill/contract';
import { JOB_SECTIONS, type JobContext } from '../ports.ts';
import { autonomySection } from './autonomy.ts';
import { DEFAULT_PROMPT_TOKENS, fitParts } from './budget.ts';
import { jobParts } from './job-parts.ts';
import { layoutLines } from './layout.ts';
import { lessonsSection, lessonText } from './lessons.ts';
import { notesSection, type RepositoryNote } from './repository-notes.ts';
import { fillTemplate, type Template } from './template.ts';
import { codeBlock, section } from './text.ts';

/** The placeholders of every job's template. */
const COMMON = [
  'input',
  'answersSection',
  'lessonsSection',
  'layoutSection',
  'conventionsSection',
  'readmeSection',
  'autonomySection',
  'questionsSection',
] as const;

export const jobPlaceholders = (mode: JobMode): readonly string[] => [...COMMON, ...JOB_SECTIONS[mode]];

/** The longest text of a repository's own notes in a prompt. */
const NOTE_CHARACTERS = 20_000;

interface Surroundings {
  conventions: RepositoryNote[];
  readme: RepositoryNote | null;
  questions: string;
}

export function jobPrompt(
  template: Template<string>,
  { mode, input }: Pick<Job, 'mode' | 'input'>,
  context: JobContext,
  { conventions, readme, questions }: Surroundings,
): { prompt: string; dropped: string[] } {
  const dropped: string[] = [];
  const cut = ({ file, text }: RepositoryNote) => {
    if (text.length > NOTE_CHARACTERS) dropped.push(`${file}: its end`);
    return { file, text: text.slice(0, NOTE_CHARACTERS) };
  };
  const common: Record<(typeof COMMON)[number], string> = {
    // The text of a trial is the engine's own.
    input: mode === 'trial' ? input : codeBlock(input, 'markdown'),
    answersSection: section('Answers of people', context.answers.map(answerText)),
    lessonsSection: lessonsSection(context.lessons.map(lessonText)),
    layoutSection: section('Files of the repository', layoutLines(context.files)),
    conventionsSection: notesSection('Conventions of the repository', conventions.map(cut)),
    readmeSection: notesSection('About the repository', readme ? [cut(readme)] : []),
    autonomySection: autonomySection({ hilConfig: context.hilConfig, approved: {}, isDeclaring: false }),
    questionsSection: questions === '' ? '' : `${questions}\n`,
  };
  const values: Record<string, string> = { ...context.sections, ...common };
  const { parts, fixed } = jobParts(values, template.uses);
  const nothing = Object.fromEntries(Object.keys(parts).map((name) => [name, '']));
  const least = fillTemplate<string>(template, { ...nothing, ...fixed }).length;
  const fitted = fitParts(parts, template.head.prompt_tokens ?? DEFAULT_PROMPT_TOKENS, least);
  dropped.push(...fitted.dropped);
  const prompt = fillTemplate<string>(template, { ...fixed, ...fitted.texts });
  // Also if a project's own template leaves it out. A trial only shows that the agent answers.
  const isMissing = mode !== 'trial' && !template.uses.has('autonomySection');
  return { prompt: isMissing ? `${prompt}\n${common.autonomySection}` : prompt, dropped };
}

/** An answer of several lines could look like a part of the prompt. */
function answerText({ question, answer, by }: JobContext['answers'][number]): string {
  if (!answer.includes('\n')) return `- ${oneLine(question)} Answer: ${answer} (${by})`;
  return `- ${oneLine(question)} Answer (${by}):\n\n${codeBlock(answer, 'text')}\n`;
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
