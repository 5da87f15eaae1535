import { HELD_REASONS, type Project, stageOrder, type TaskSummary } from '@tidemill/contract';
import { stageText } from '../words.ts';

export interface TaskGroup {
  stage: string;
  label: string;
  /** How many the project has; the list may show fewer. */
  count: number;
  tasks: TaskSummary[];
}

const FIRST = ['needs_info', 'blocked', 'open'];
const LAST = ['done', 'cancelled'];

/** Tasks by stage in the pipeline's order: what waits for a person first, what is finished last. Empty stages are left out. */
export function groupsOf(project: Project, tasks: TaskSummary[], counts: Record<string, number>): TaskGroup[] {
  const byStage = Map.groupBy(tasks, ({ stage }) => stage);
  const order = [...FIRST, ...stageOrder(project, counts), ...LAST];
  const others = [...byStage.keys()].filter((stage) => !order.includes(stage));
  return [...order, ...others].flatMap((stage) => {
    const here = byStage.get(stage) ?? [];
    const sorted = LAST.includes(stage)
      ? here.toSorted((a, b) => b.stageSince - a.stageSince)
      : here.toSorted(byUrgency);
    return here.length === 0
      ? []
      : [{ stage, label: labelOf(stage), count: Math.max(counts[stage] ?? 0, here.length), tasks: sorted }];
  });
}

const labelOf = (stage: string) => stage.charAt(0).toUpperCase() + stageText(stage).slice(1);

const byUrgency = (a: TaskSummary, b: TaskSummary) => a.priority - b.priority || a.number - b.number;

/** Beside the title: who works on it, or why nobody does. */
export function noteOf(task: TaskSummary): string {
  const { worker, blocked, openQuestions, waiting, unmet, after, conflictsWith } = task;
  if (worker) return worker;
  if (blocked) return HELD_REASONS[blocked.reason];
  if (openQuestions.length > 0) return HELD_REASONS.question;
  if (waiting) return waiting;
  if (unmet > 0) return `after ${after.map((number) => `#${number}`).join(', ')}`;
  if (conflictsWith.length > 0) return 'will conflict';
  return '';
}

/** What the context menu offers, as its `viewItem`: `task active`, `task stuck`, … */
export function menuOf({ stage, worker, blocked }: TaskSummary): string {
  const words = ['task'];
  if (LAST.includes(stage)) words.push('ended');
  else words.push('active');
  if (blocked || stage === 'needs_info' || stage === 'cancelled') words.push('stuck');
  if (worker) words.push('claimed');
  if (blocked?.reason === 'conflict') words.push('conflict');
  return words.join(' ');
}
