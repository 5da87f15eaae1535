import type { EventBody, LoggedEvent } from '@tidemill/contract';
import { money, plural, stageText } from '../../words.ts';

/** An event in words: who, and what they did; the task it is about stands beside it. */
export interface Sentence {
  who: string;
  text: string;
  /** How it looks: the status classes of the page. */
  look: 'working' | 'reviewing' | 'waiting' | 'landed' | 'crashed' | 'idle' | 'paused';
}

export const taskIdOf = (body: EventBody): string | null =>
  'taskId' in body && body.taskId ? body.taskId : body.type === 'evidence.recorded' ? body.evidence.taskId : null;

/** Worker ids are `projectId/name`. */
export const workerName = (id: string) => id.slice(id.lastIndexOf('/') + 1);
const say = (who: string, text: string, look: Sentence['look'] = 'idle'): Sentence => ({ who, text, look });
const mill = (text: string, look?: Sentence['look']) => say('mill', text, look);
const first = (text: string, most = 160) => (text.length > most ? `${text.slice(0, most)}…` : text);
const rest = (type: string) => type.replace(/[._]/g, ' ');

export function sentenceOf({ body }: LoggedEvent): Sentence {
  switch (body.type) {
    case 'project.registered':
      return mill('got to know the project');
    case 'project.configured':
      return mill('follows the changed settings');
    case 'worker.registered':
      return say(body.name, 'joined');
    case 'worker.removed':
      return say(workerName(body.workerId), 'left');
    case 'worker.wished':
      return say(body.by || 'somebody', `wants ${workerName(body.workerId)} ${body.wish}`, 'paused');
    case 'worker.crashed':
      return say(workerName(body.workerId), `${body.status}: ${first(body.error)}`, 'crashed');
    case 'worker.reset':
      return say(body.by, `reset ${workerName(body.workerId)}`);
    case 'emergency.executed':
      return say(body.by, `${rest(body.operation)}: ${body.workers.join(', ') || 'nobody was at work'}`, 'crashed');
    case 'supervisor.decided':
      return say('supervisor', `${body.action} ${body.subject}: ${first(body.reason)}`);
    default:
      return workSentence(body) ?? peopleSentence(body) ?? mill(rest(body.type));
  }
}

function workSentence(body: EventBody): Sentence | null {
  switch (body.type) {
    case 'task.created':
      return say('somebody', 'added');
    case 'task.moved':
      return mill(`${stageText(body.from)} → ${stageText(body.to)}, ${first(stageText(body.because))}`, moved(body.to));
    case 'task.blocked':
      return mill(`blocked, ${stageText(body.reason)}: ${first(body.text)}`, 'waiting');
    case 'task.parked':
      return mill(`stands still for ${plural(body.questions.length, 'question')}`, 'waiting');
    case 'task.waiting':
      return mill(`waits: ${first(body.why)}`, 'waiting');
    case 'task.noted':
      return say(body.entry.source, first(body.entry.summary));
    case 'task.feedback_given':
      return body.feedback.length === 0
        ? mill('cleared what was asked for')
        : mill(`hands back: ${first(body.feedback.map(({ text }) => text).join(' / '))}`);
    case 'task.criteria_judged':
      return say('reviewer', judged(body.criteria), 'reviewing');
    case 'lease.claimed':
      return say(workerName(body.workerId), 'claimed', 'working');
    case 'lease.released':
      return say(workerName(body.workerId), `let go, ${first(body.why)}`);
    case 'run.started':
      return say(
        workerName(body.workerId),
        `began to ${stageText(body.mode)} with ${body.agent}, try ${body.attempt}`,
        body.mode === 'review' ? 'reviewing' : 'working',
      );
    case 'run.finished':
      return say(body.workerId ? workerName(body.workerId) : 'agent', finished(body), ended(body.outcome));
    case 'run.sent_back':
      return mill(`sent the agent back, ${body.gates.join(', ')} fail`, 'waiting');
    case 'run.overdrawn':
      return mill(`the run has spent ${money(body.spentUsd)}, all it was given`, 'waiting');
    case 'guard.denied':
      return say(`guard ${body.guard}`, `refused ${body.tool}: ${first(body.reason)}`, 'waiting');
    case 'work.committed':
      return mill(`committed ${body.commit.slice(0, 10)}`);
    case 'evidence.recorded':
      return say(
        `gate ${body.evidence.gate}`,
        body.evidence.status === 'pass' ? 'passed' : body.evidence.status === 'fail' ? 'failed' : 'could not be run',
        body.evidence.status === 'pass' ? 'landed' : 'waiting',
      );
    case 'merge.prepared':
      return mill('is about to land it');
    case 'merge.abandoned':
      return mill(`did not land it: ${first(body.why)}`, 'waiting');
    case 'merge.landed':
      return mill(`landed as ${body.commit.slice(0, 10)}`, 'landed');
    case 'snapshot.taken':
      return mill(`kept the work in a snapshot: ${first(body.why)}`);
    default:
      return null;
  }
}

function peopleSentence(body: EventBody): Sentence | null {
  switch (body.type) {
    case 'question.asked':
      return say(body.question.agent, `asks ${body.question.ref}: ${first(body.question.text)}`, 'waiting');
    case 'question.answered':
      return say(body.answer.by, `answered: ${first(body.answer.text)}`);
    case 'question.held':
      return mill(`cannot go on without: ${first(body.text)}`, 'waiting');
    case 'question.closed':
      return mill(`question ${body.status}: ${first(body.why)}`);
    case 'alert.raised':
      return mill(`${body.severity}: ${first(body.text)}`, body.severity === 'info' ? 'idle' : 'waiting');
    case 'alert.acknowledged':
      return say(body.by, 'acknowledged an alert');
    case 'preference.learned':
      return mill(`learned: ${first(body.text)} ${first(body.answer)}`);
    case 'preference.revoked':
      return say(body.by, 'revoked what was learned');
    case 'budget.limited':
      return say(body.by, `set the budget to ${money(body.limits.dailyUsd)} a day`);
    case 'budget.threshold_reached':
      return mill(`${body.threshold} % of the ${body.period} budget is spent`, 'waiting');
    default:
      return null;
  }
}

const moved = (to: string): Sentence['look'] =>
  to === 'done' ? 'landed' : to === 'review' ? 'reviewing' : to === 'cancelled' ? 'paused' : 'working';

const ended = (outcome: string): Sentence['look'] =>
  ['failed', 'interrupted', 'conflicts_detected'].includes(outcome) ? 'crashed' : 'working';

function finished({ outcome, message, envelope, usage }: Extract<EventBody, { type: 'run.finished' }>): string {
  const cost = usage.costUsd ? `, ${money(usage.costUsd)}` : '';
  const words = envelope?.summary || message;
  return `ended, ${stageText(outcome)}${cost}${words ? `: ${first(words)}` : ''}`;
}

function judged(criteria: { met: boolean | null }[]): string {
  const met = criteria.filter((criterion) => criterion.met).length;
  return `${met} of ${plural(criteria.length, 'criterion', 'criteria')} met`;
}
