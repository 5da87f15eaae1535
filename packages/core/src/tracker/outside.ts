import type { Feedback, Task } from '@tidemill/contract';
import { MAX_REVIEW_CYCLES } from '../pipeline/policy.ts';
import { quietText as quiet } from './quiet.ts';

/** What a task is to the readers of a tracker. */
export type OutsideStatus = 'working' | 'review' | 'waiting' | 'done';

/** What a tracker shows about a task: everything that Tidemill writes there. */
export interface OutsideState {
  labels: string[];
  /** Null: its status is left as it is. */
  status: OutsideStatus | null;
  comment: string;
  isClosed: boolean;
}

const ESCALATION_LABEL = 'review-escalation';
const CONFLICT_LABEL = 'needs-manual-resolution';
export const OWN_LABEL = 'agent-generated';
export const categoryLabel = (category: string) => `category:${category}`;
/** Labels for the state of a task. Another Tidemill that sees one leaves the item alone. */
export const STATE_LABELS: Record<Exclude<OutsideStatus, 'done'>, string> = {
  working: 'tidemill:in-progress',
  review: 'tidemill:in-review',
  waiting: 'tidemill:needs-you',
};

const MAX_TEXT = 4_000;
const MAX_COMMENT = 30_000;

/** Null while there is nothing to tell: nobody has worked on the task yet. */
export function outsideStateOf(task: Task, options: { close: boolean; isKnown: boolean }): OutsideState | null {
  const isUntouched = task.stage === 'open' && task.lease === null && Object.keys(task.runs).length === 0;
  if (isUntouched && !options.isKnown) return null;
  const status = statusOf(task);
  const labels = status === null || status === 'done' ? [] : [STATE_LABELS[status]];
  if (task.blocked?.reason === 'review_escalation') labels.push(ESCALATION_LABEL);
  if (task.blocked?.reason === 'conflict') labels.push(CONFLICT_LABEL);
  return { labels, status, comment: commentOf(task), isClosed: options.close && task.stage === 'done' };
}

function statusOf(task: Task): OutsideStatus | null {
  if (task.stage === 'done') return 'done';
  if (task.stage === 'cancelled' || task.stage === 'open') return null;
  if (task.stage === 'blocked' || task.stage === 'needs_info' || task.role === null) return 'waiting';
  return task.role === 'reviewer' || task.role === 'merger' ? 'review' : 'working';
}

function commentOf(task: Task): string {
  const parts = [
    `**Tidemill**, task #${task.number}: ${stateText(task)}`,
    pullText(task),
    criteriaText(task),
    feedbackText(task),
    escalationText(task),
    conflictText(task),
    questionText(task),
    earlierText(task),
    '<sub>This comment is edited as the work goes on.</sub>',
  ];
  const whole = parts.filter((part) => part !== '').join('\n\n');
  return whole.length <= MAX_COMMENT ? whole : `${whole.slice(0, MAX_COMMENT)}\n\n(cut)`;
}

function stateText(task: Task): string {
  const { stage, lease, waiting, blocked, landedCommit } = task;
  if (stage === 'done')
    return landedCommit ? `done, landed as ${landedCommit.slice(0, 10)}.` : 'done; nothing had to change.';
  if (stage === 'cancelled') return 'cancelled.';
  if (stage === 'open') return 'waits for its turn.';
  if (stage === 'needs_info') return 'waits for an answer.';
  if (stage === 'blocked') return `blocked, ${(blocked?.reason ?? '').replaceAll('_', ' ')}. It waits for a person.`;
  const by = lease === null ? '' : `, worked on by ${lease.workerId.split('/').at(-1)}`;
  return `${stage.replaceAll('_', ' ')}${by}.${waiting === null ? '' : ` ${quiet(waiting)}`}`;
}

const pullText = ({ pull }: Task) => (pull === null ? '' : `Pull request: ${pull.url}`);

function criteriaText({ criteria }: Task): string {
  if (criteria.length === 0) return '';
  const lines = criteria.map(({ text, met, evidence }) => {
    const why = met === null || evidence === '' ? '' : ` (${short(evidence, 300)})`;
    return `- [${met ? 'x' : ' '}] ${line(text)}${why}`;
  });
  return `**Acceptance criteria**\n${lines.join('\n')}`;
}

/** The last rejection, until the reviewer has judged again. */
function feedbackText(task: Task): string {
  const ofReview = task.feedback.filter(({ kind }) => kind === 'review');
  if (ofReview.length === 0) return '';
  const cycle = task.blocked?.reason === 'review_escalation' ? MAX_REVIEW_CYCLES : task.counters.reviewCycles;
  const said = ofReview.flatMap(({ text }) => text.split('\n')).filter((each) => each.trim() !== '');
  const unmet = said.filter((each) => each.startsWith('Not met: '));
  const others = said.filter((each) => !each.startsWith('Not met: '));
  const issues = unmet.length > 0 ? unmet : others.slice(0, 1);
  const changes = unmet.length > 0 ? others : others.slice(1);
  return [
    `## Review Feedback - Cycle ${Math.max(cycle, 1)}/${MAX_REVIEW_CYCLES}`,
    '**Status:** REJECTED',
    `**Issues Found:**\n${issues.map((each) => `- ${line(each)}`).join('\n')}`,
    ...(changes.length > 0
      ? [`**Requested Changes:**\n${changes.map((each, index) => `${index + 1}. ${line(each)}`).join('\n')}`]
      : []),
    task.blocked?.reason === 'review_escalation'
      ? '**Next Steps:**\nA person decides.'
      : '**Next Steps:**\nAn agent works on these points; then the change is reviewed again.',
  ].join('\n\n');
}

/** Both views, so that a person can decide. */
function escalationText({ blocked, number }: Task): string {
  if (blocked?.reason !== 'review_escalation') return '';
  const how = `Decide with \`tidemill task approve ${number}\`, \`tidemill task reject ${number}\` or \`tidemill task cancel ${number}\`.`;
  return `## Review escalation\n\nThe reviewer and the builder do not agree.\n\n${quoted(blocked.text)}\n\n${how}`;
}

function conflictText({ blocked, feedback, number }: Task): string {
  if (blocked?.reason !== 'conflict') return '';
  const files = [...new Set(feedback.filter(isConflict).flatMap((each) => each.files))];
  const list = files.map((file) => `- ${line(file)}`).join('\n');
  const how = `Resolve it with \`tidemill conflicts show ${number}\`, on the page or in VS Code.`;
  return `## Conflicts\n\nA person must resolve these files:\n\n${list || quoted(blocked.text)}\n\n${how}`;
}

const isConflict = ({ kind }: Feedback) => kind === 'conflict';

function questionText({ stage, openQuestions }: Task): string {
  if (stage !== 'needs_info' || openQuestions.length === 0) return '';
  return `**Open questions**\n${openQuestions.map(({ text }) => `- ${line(text)}`).join('\n')}`;
}

/** What reviewers said before. */
function earlierText({ context }: Task): string {
  const reviews = context.filter(({ source, summary }) => source === 'reviewer' && summary !== '');
  if (reviews.length === 0) return '';
  const lines = reviews.map(
    ({ entryType, summary }, index) => `${index + 1}. ${entryType.replaceAll('_', ' ')}: ${line(short(summary, 500))}`,
  );
  return `<details><summary>Reviews so far: ${reviews.length}</summary>\n\n${lines.join('\n')}\n\n</details>`;
}

const short = (text: string, most: number) => quiet(text.length <= most ? text : `${text.slice(0, most)}…`);
const line = (text: string) => quiet(text.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT));
const quoted = (text: string) =>
  quiet(text.slice(0, MAX_TEXT))
    .split('\n')
    .map((each) => `> ${each}`)
    .join('\n');
