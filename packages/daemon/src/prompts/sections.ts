import type { HilConfig, Task } from '@tidemill/contract';
import type { Deciding } from '@tidemill/core';
import type { Change } from '../ports.ts';
import { autonomySection } from './autonomy.ts';
import { changedFilesSection } from './changed-files.ts';
import type { Placeholder } from './template.ts';
import { fenced, section } from './text.ts';

export interface PromptInput {
  task: Task;
  target: string;
  diff: Change;
  deciding: Deciding[];
  gates: string;
  hilConfig: HilConfig;
}

/** Placeholders whose text is never cut: the task and the rules of the work. */
export type FixedPlaceholder = Exclude<
  Placeholder,
  | 'diffSection'
  | 'feedbackSection'
  | 'planCommentsSection'
  | 'priorReviewSection'
  | 'planSection'
  | 'subtasksSection'
  | 'conventionsSection'
  | 'readmeSection'
>;

export function fixedSections(input: PromptInput, questions: string): Record<FixedPlaceholder, string> {
  const { task, target } = input;
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
    changedFilesSection: input.diff.files.length === 0 ? '' : changedFilesSection(input.diff.files),
    relatedTaskSection: relatedTasks(task, target),
    gatesSection: section('What the gates found', input.gates.trim() === '' ? [] : [fenced(input.gates, '')]),
    autonomySection: autonomySection(input.hilConfig),
    questionsSection: questions,
  };
}

function criterionLine({ id, text, met, evidence }: Task['criteria'][number]): string {
  const verdict = met === null ? '' : ` (last review: ${met ? 'met' : 'not met'}${evidence ? `; ${evidence}` : ''})`;
  return `- \`${id}\`: ${text}${verdict}`;
}

function relatedTasks(task: Task, target: string): string {
  if (task.dependsOn.length === 0) return '';
  const count = task.dependsOn.length === 1 ? 'one other task' : `${task.dependsOn.length} other tasks`;
  return section('Related work', [
    `This task builds on ${count}. That work is on ${target} and in your folder already.`,
  ]);
}
