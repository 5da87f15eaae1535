import { AppError, type Mode, nearest } from '@tidemill/contract';
import { type FrontMatter, partTemplate } from './front-matter.ts';

/** The placeholders of a task mode's template. Sections have their own heading and are empty when there is no content. */
export const PLACEHOLDERS = [
  'taskTitle',
  'taskDescription',
  'taskId',
  'taskNumber',
  'specSection',
  'acceptanceSection',
  'filesSection',
  'subtasksSection',
  'planSection',
  'planCommentsSection',
  'priorReviewSection',
  'relatedTaskSection',
  'changedFilesSection',
  'diffSection',
  'forecastSection',
  'gatesSection',
  'proofSection',
  'lessonsSection',
  'tracesSection',
  'feedbackSection',
  'conventionsSection',
  'readmeSection',
  'autonomySection',
  'questionsSection',
  'target',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

export interface Template<Name extends string = Placeholder> {
  head: FrontMatter;
  body: string;
  /** How often each is used. */
  uses: Map<Name, number>;
}

/** `{name}` is a placeholder, `{{name}}` produces the text `{name}`. JSON and code with other braces stay unchanged. */
const BRACED = /\{\{([a-z][A-Za-z]*)\}\}|\{([a-z][A-Za-z]*)\}/g;

export function parseTemplate<Name extends string>(
  text: string,
  file: string,
  mode: Mode,
  names: readonly Name[],
): Template<Name> {
  const { head, body, firstLine } = partTemplate(text.replaceAll('\r\n', '\n'), file, mode);
  return { head, body, uses: checkedUses(body, firstLine, file, names) };
}

/** How often each placeholder is used. Unknown ones are refused with their line. */
export function checkedUses<Name extends string>(
  body: string,
  firstLine: number,
  file: string,
  names: readonly Name[],
): Map<Name, number> {
  const isKnown = (name: string): name is Name => (names as readonly string[]).includes(name);
  const uses = new Map<Name, number>();
  for (const match of body.matchAll(BRACED)) {
    const name = match[2];
    if (name === undefined) continue;
    if (!isKnown(name)) {
      const line = firstLine + body.slice(0, match.index).split('\n').length - 1;
      throw unknownPlaceholder(name, names, `${file}:${line}`);
    }
    uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  if (body.trim() === '')
    throw new AppError('bad_config', `${file} is empty`, { hint: 'Write a prompt or delete the file.' });
  return uses;
}

/** One pass: inserted text is not expanded again, so a task's text cannot add a placeholder. */
export function fillTemplate<Name extends string>(
  template: Pick<Template<Name>, 'body'>,
  values: Record<Name, string>,
): string {
  const isEmpty = (name: string) => values[name as Name] === '';
  // The line of an empty section is removed.
  const body = template.body.replace(/^\{([a-z][A-Za-z]*)\}\n/gm, (line, name: string) => (isEmpty(name) ? '' : line));
  const text = body.replace(BRACED, (_all, literal?: string, name?: string) =>
    literal !== undefined ? `{${literal}}` : values[name as Name],
  );
  return `${text.trim()}\n`;
}

function unknownPlaceholder(name: string, names: readonly string[], where: string): AppError {
  const guess = nearest(name, [...names]);
  const known = `use one of ${names.map((each) => `{${each}}`).join(' ')}, or {{${name}}} for the word in braces`;
  const advice = guess ? `; did you mean {${guess}}?` : '';
  return new AppError('bad_config', `${where}: there is no placeholder {${name}}${advice}`, { hint: known });
}
