import { AppError, Mode } from '@tidemill/contract';
import { parse } from 'yaml';
import { z } from 'zod';

/** What a template may ask for. Sections come with their own heading and are empty when there is nothing to say. */
const PLACEHOLDERS = [
  'taskTitle',
  'taskDescription',
  'taskId',
  'taskNumber',
  'acceptanceSection',
  'filesSection',
  'subtasksSection',
  'planSection',
  'planCommentsSection',
  'priorReviewSection',
  'relatedTaskSection',
  'diffSection',
  'gatesSection',
  'feedbackSection',
  'target',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

const FrontMatter = z.object({ mode: Mode, role: z.string().optional(), description: z.string().optional() });

export interface Template {
  body: string;
  uses: Set<Placeholder>;
}

/** `{name}` is a placeholder, `{{name}}` the word in braces itself. JSON and code with other braces are left alone. */
const BRACED = /\{\{([a-z][A-Za-z]*)\}\}|\{([a-z][A-Za-z]*)\}/g;

export function parseTemplate(text: string, file: string, mode: Mode): Template {
  const { body, firstLine } = withoutFrontMatter(text.replaceAll('\r\n', '\n'), file, mode);
  const uses = new Set<Placeholder>();
  for (const match of body.matchAll(BRACED)) {
    const name = match[2];
    if (name === undefined) continue;
    if (!isPlaceholder(name)) {
      const line = firstLine + body.slice(0, match.index).split('\n').length - 1;
      throw new AppError('bad_config', `${file}, line ${line}: there is no placeholder {${name}}`, {
        hint: `use one of ${PLACEHOLDERS.map((known) => `{${known}}`).join(' ')}, or {{${name}}} for the word in braces`,
      });
    }
    uses.add(name);
  }
  if (body.trim() === '') throw new AppError('bad_config', `${file} is empty`, { hint: 'write a prompt or delete it' });
  return { body, uses };
}

/** One pass: what is filled in is never looked at again, so a task's text cannot smuggle in a placeholder. */
export function fillTemplate(template: Template, values: Record<Placeholder, string>): string {
  const isEmpty = (name: string) => isPlaceholder(name) && values[name] === '';
  // A section that has nothing to say takes its line with it.
  const body = template.body.replace(/^\{([a-z][A-Za-z]*)\}\n/gm, (line, name: string) => (isEmpty(name) ? '' : line));
  const text = body.replace(BRACED, (_all, literal?: string, name?: string) =>
    literal !== undefined ? `{${literal}}` : values[name as Placeholder],
  );
  return `${text.trim()}\n`;
}

function isPlaceholder(name: string): name is Placeholder {
  return (PLACEHOLDERS as readonly string[]).includes(name);
}

function withoutFrontMatter(text: string, file: string, mode: Mode): { body: string; firstLine: number } {
  const match = /^---\n([\s\S]*?\n)?---\n/.exec(text);
  if (!match) return { body: text, firstLine: 1 };
  const matter = FrontMatter.safeParse(yamlOrNull(match[1] ?? ''));
  if (!matter.success) {
    throw new AppError('bad_config', `${file}: its head is not valid: ${z.prettifyError(matter.error)}`, {
      hint: `between the two --- lines write mode: ${mode}, and if you like role and description`,
    });
  }
  if (matter.data.mode !== mode) {
    throw new AppError('bad_config', `${file} says mode: ${matter.data.mode}, but its name says ${mode}`, {
      hint: `write mode: ${mode}, or rename the file`,
    });
  }
  return { body: text.slice(match[0].length), firstLine: match[0].split('\n').length };
}

function yamlOrNull(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null; // which the schema then refuses, naming the file
  }
}
