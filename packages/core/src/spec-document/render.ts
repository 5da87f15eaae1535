import type { SpecDraft, SpecTask } from '@tidemill/contract';
import { escapedText, OPEN_POINTS, SPEC_HEADINGS } from './headings.ts';

export function renderSpec(draft: SpecDraft): string {
  const { title, summary, requirements, scope, architecture, files, dependencies, risks } = draft;
  const heading = SPEC_HEADINGS;
  const parts = [
    `# ${title}`,
    escapedText(summary),
    section(
      heading.requirements,
      requirements.map(({ id, kind, text }) => `- **${id}** (${kind.replace('_', '-')}): ${indented(text, '  ')}`),
    ),
    section(heading.in, listed(scope.in)),
    section(heading.out, listed(scope.out)),
    architecture === '' ? '' : `## ${heading.architecture}\n\n${escapedText(architecture)}`,
    section(
      heading.files,
      files.map(({ path, change, purpose, owner }) => {
        const about = owner === '' ? change : `${change}, ${owner}`;
        return `- \`${path}\` (${about})${purpose === '' ? '' : `: ${purpose}`}`;
      }),
    ),
    section(heading.dependencies, listed(dependencies)),
    section(heading.risks, listed(risks)),
    openPoints(draft),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const section = (name: string, lines: string[]) => (lines.length === 0 ? '' : `## ${name}\n\n${lines.join('\n')}`);
const listed = (lines: string[]) => lines.map((line) => `- ${line}`);
const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);

/** What a person is asked about before the specification can be approved. It is not read back. */
function openPoints({ ambiguities, architectures }: SpecDraft): string {
  return section(OPEN_POINTS, [
    ...ambiguities.map(({ requirement, term, options }) => {
      const choice = options.length === 0 ? '' : ` (${options.join(' / ')})`;
      return `- "${term}" in "${indented(requirement, '  ')}"${choice}`;
    }),
    ...architectures.map(({ feature, options }) => `- ${feature}: ${options.map(({ name }) => name).join(', or ')}`),
  ]);
}

/** Each task is a heading and a block of YAML. */
export function renderTasks({ title, tasks }: Pick<SpecDraft, 'title' | 'tasks'>): string {
  const blocks = tasks.map((task) => `## ${task.id}: ${task.title}\n\n\`\`\`yaml\n${yamlOf(task)}\n\`\`\``);
  return `${[`# Tasks: ${title}`, ...blocks].join('\n\n')}\n`;
}

function yamlOf(task: SpecTask): string {
  const { id, title, phase, action, detail, files, dependsOn, requirements, accept, validate, template } = task;
  const lines = [
    `id: ${quoted(id)}`,
    `title: ${quoted(title)}`,
    `phase: ${phase}`,
    `action: ${action}`,
    ...text('detail', detail),
    ...(files.length === 0 ? [] : ['files:', ...files.map((file) => `  - ${quoted(file)}`)]),
    ...names('dependsOn', dependsOn),
    ...names('requirements', requirements),
    ...(accept.length === 0 ? [] : ['accept:', ...accept.map((each) => `  - ${quoted(each)}`)]),
    ...(validate === '' ? [] : [`validate: ${quoted(validate)}`]),
    ...text('template', template),
    ...(task.kind === 'feature' ? [] : [`kind: ${task.kind}`]),
    ...(task.estimateMinutes === null ? [] : [`estimateMinutes: ${task.estimateMinutes}`]),
  ];
  return lines.join('\n');
}

/** JSON's strings are YAML's. */
const quoted = (value: string) => (/^[A-Z]\d+$/.test(value) ? value : JSON.stringify(value));
const names = (key: string, values: string[]) =>
  values.length === 0 ? [] : [`${key}: [${values.map(quoted).join(', ')}]`];

/** A text of several lines is a block, unless it could end the block it stands in. */
function text(key: string, value: string): string[] {
  if (value === '') return [];
  const isPlain = !value.includes('```') && /^[^\s]/.test(value) && !/[^\S\n]$/m.test(value) && !/^\s+$/m.test(value);
  if (!value.includes('\n') || !isPlain) return [`${key}: ${quoted(value)}`];
  return [`${key}: |-`, ...value.split('\n').map((line) => (line === '' ? '' : `  ${line}`))];
}

/** Both documents as one text: comments name its lines. */
export const specDocument = (draft: SpecDraft): string => `${renderSpec(draft)}\n${renderTasks(draft)}`;

/** What is told to the agent of a task. */
export function taskBody(
  task: SpecTask,
  { name, gotchas, requirements }: { name: string; gotchas: string[]; requirements: { id: string; text: string }[] },
): string {
  const own = requirements.filter(({ id }) => task.requirements.includes(id));
  const parts = [
    task.detail,
    section(
      'Requirements',
      own.map(({ id, text: words }) => `- ${id}: ${indented(words, '  ')}`),
    ),
    task.validate === ''
      ? ''
      : `## Validation\n\nThis command shows that it is done: \`${task.validate}\`. Tidemill runs it on your work; it must exit with 0.`,
    task.template === '' ? '' : `## Start from\n\n${task.template}`,
    section(
      'Known problems',
      gotchas.map((each) => `- ${indented(each, '  ')}`),
    ),
    `From ${name}, task ${task.id} (${task.action}, ${task.phase}).`,
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}
