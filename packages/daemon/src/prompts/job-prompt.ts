import type { Job, JobMode } from '@tidemill/contract';
import { JOB_SECTIONS, type JobContext } from '../ports.ts';
import { autonomySection } from './autonomy.ts';
import { layoutLines } from './layout.ts';
import type { RepositoryNote } from './repository-notes.ts';
import { fillTemplate, type Template } from './template.ts';
import { section } from './text.ts';

/** The placeholders of every job's template. */
const COMMON = [
  'input',
  'answersSection',
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
  { input }: Pick<Job, 'mode' | 'input'>,
  context: JobContext,
  { conventions, readme, questions }: Surroundings,
): { prompt: string; dropped: string[] } {
  const dropped: string[] = [];
  const cut = ({ file, text }: RepositoryNote) => {
    if (text.length > NOTE_CHARACTERS) dropped.push(`${file}: its end`);
    return `From ${file}:\n\n${text.slice(0, NOTE_CHARACTERS)}`;
  };
  const common: Record<(typeof COMMON)[number], string> = {
    input,
    answersSection: section(
      'Answers of people',
      context.answers.map(({ question, answer, by }) => `- ${oneLine(question)} Answer: ${answer} (${by})`),
    ),
    layoutSection: section('Files of the repository', layoutLines(context.files)),
    conventionsSection: section('Conventions of the repository', conventions.map(cut)),
    readmeSection: section('About the repository', readme ? [cut(readme)] : []),
    autonomySection: autonomySection({ hilConfig: context.hilConfig, approved: {}, isDeclaring: false }),
    questionsSection: questions === '' ? '' : `${questions}\n`,
  };
  return { prompt: fillTemplate<string>(template, { ...context.sections, ...common }), dropped };
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
