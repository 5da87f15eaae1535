import type { Feedback, Task } from '@tidemill/contract';
import type { Placeholder } from './template.ts';

export interface PromptInput {
  task: Task;
  target: string;
  diff: string;
  gates: string;
}

const MOST_CONTEXT = 20;

/** The text for each placeholder. A person's words on a plan have a section of their own if the template shows it. */
export function sectionsOf(input: PromptInput, uses: Set<Placeholder>): Record<Placeholder, string> {
  const { task, target } = input;
  const isApart = uses.has('planCommentsSection');
  const comments = task.feedback.filter((entry) => isApart && entry.kind === 'person');
  return {
    taskTitle: task.title,
    taskDescription: task.body.trim() || '(no description was given)',
    taskId: task.id,
    taskNumber: String(task.number),
    target,
    acceptanceSection: section('Acceptance criteria', task.criteria.map(criterionLine)),
    filesSection: section(
      'Files',
      task.files.map((file) => `- ${file}`),
      'The work is expected to stay within these; other agents may be busy elsewhere.',
    ),
    subtasksSection: section(
      'Steps',
      task.subtasks.map((step, index) => `${index + 1}. ${step}`),
    ),
    planSection: section('Plan', task.plan.trim() === '' ? [] : [task.plan.trim()]),
    planCommentsSection: section('Comments on the plan', comments.map(feedbackText)),
    priorReviewSection: priorReview(task),
    relatedTaskSection: relatedTasks(task, target),
    diffSection: section('The change', input.diff.trim() === '' ? [] : [fenced(input.diff, 'diff')]),
    gatesSection: section('What the gates found', input.gates.trim() === '' ? [] : [fenced(input.gates, '')]),
    feedbackSection: feedbackSection(task.feedback.filter((entry) => !comments.includes(entry))),
  };
}

/** What earlier runs and people left for this one, newest last. */
export function contextSection(task: Task): string {
  const entries = task.context.slice(-MOST_CONTEXT).map(({ source, entryType, summary, at }) => {
    return `### [${source}] ${entryType} (${new Date(at).toISOString()})\n${summary.trim()}\n`;
  });
  return entries.length === 0 ? '' : `## Task context\n\n${entries.join('\n')}\n---\n\n`;
}

function feedbackSection(feedback: Feedback[]): string {
  return section(
    'What has to be put right',
    feedback.map(feedbackText),
    'The previous attempt was not accepted. Deal with every point:',
  );
}

function feedbackText({ kind, text, files }: Feedback): string {
  const heading = {
    gate: 'A gate failed',
    review: 'The reviewer asks for changes',
    conflict: 'The change conflicts with newer work',
    person: 'A person says',
    agent: 'An agent says',
  }[kind];
  const where = files.length > 0 ? `\nFiles: ${files.join(', ')}` : '';
  const body = kind === 'gate' ? fenced(text, '') : text.trim();
  return `### ${heading}${where}\n${body}\n`;
}

function criterionLine({ id, text, met, evidence }: Task['criteria'][number]): string {
  const verdict = met === null ? '' : ` (last review: ${met ? 'met' : 'not met'}${evidence ? `; ${evidence}` : ''})`;
  return `- \`${id}\`: ${text}${verdict}`;
}

function priorReview(task: Task): string {
  if (task.counters.reviewCycles === 0) return '';
  const last = task.context.findLast((entry) => entry.entryType === 'review_feedback');
  const lines = [
    `This change was sent back ${task.counters.reviewCycles} time(s). Check first whether that was dealt with.`,
  ];
  if (last) lines.push('', last.summary.trim());
  return section('Earlier review', lines);
}

function relatedTasks(task: Task, target: string): string {
  if (task.dependsOn.length === 0) return '';
  const count = task.dependsOn.length === 1 ? 'one other task' : `${task.dependsOn.length} other tasks`;
  return section('Related work', [
    `This task builds on ${count}. That work is on ${target} and in your folder already.`,
  ]);
}

function section(title: string, lines: string[], introduction = ''): string {
  if (lines.length === 0) return '';
  return `## ${title}\n\n${introduction === '' ? '' : `${introduction}\n\n`}${lines.join('\n')}\n`;
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
