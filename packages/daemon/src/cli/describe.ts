import type { Api, LoggedEvent } from '@tidemill/contract';
import { oneLine, took } from './terminal.ts';

/** Numbers and titles of tasks, so that nobody is shown an id. */
export class TaskNames {
  readonly #api: Api;
  readonly #known = new Map<string, { number: number; title: string }>();

  constructor(api: Api) {
    this.#api = api;
  }

  async of(event: LoggedEvent): Promise<{ number: number; title: string } | null> {
    const { body } = event;
    if (body.type === 'task.created') this.#known.set(body.taskId, body);
    const taskId = body.type === 'evidence.recorded' ? body.evidence.taskId : 'taskId' in body ? body.taskId : null;
    if (taskId === null) return null;
    const known = this.#known.get(taskId);
    if (known) return known;
    const { task } = await this.#api.task({ project: event.projectId, task: taskId });
    this.#known.set(taskId, task);
    return task;
  }
}

/** An event as a person would tell it, without the task's number. */
function describeEvent({ body }: LoggedEvent): string {
  switch (body.type) {
    case 'project.registered':
      return `project ${body.name} registered`;
    case 'project.configured':
      return `settings read, ${body.rules.gates.length} gates`;
    case 'worker.registered':
      return `${body.name} is there (${body.isOutside ? 'from outside' : body.role})`;
    case 'worker.removed':
      return `${body.workerId.split('/').at(-1)} left`;
    case 'task.created':
      return `added: ${body.title}`;
    case 'task.dependencies_set':
      return `waits for ${body.unmet} tasks`;
    case 'task.dependency_met':
      return 'a task it waited for is done';
    case 'task.moved':
      return `${body.from} → ${body.to}${body.because ? ` (${body.because})` : ''}`;
    case 'task.blocked':
      return `blocked, ${body.reason}: ${body.text}`;
    case 'task.parked':
      return `asks: ${body.questions.join(' / ')}`;
    case 'task.waiting':
      return `waits: ${body.why}`;
    case 'task.counters_reset':
      return 'counts from zero again';
    case 'task.feedback_given':
      return `feedback: ${body.feedback.map(({ text }) => text.split('\n')[0]).join(' / ')}`;
    case 'task.noted':
      return `${body.entry.source}: ${body.entry.summary}`;
    case 'task.criteria_judged':
      return `${body.criteria.filter(({ met }) => met).length} of ${body.criteria.length} criteria met`;
    case 'failure.recognised':
      return body.count > 1
        ? `the same failure for the ${body.count === 2 ? 'second' : `${body.count}th`} time`
        : 'a failure not seen before';
    case 'run.briefed':
      return `briefed with about ${body.promptTokens} tokens${body.dropped.length > 0 ? `; left out: ${body.dropped.join(', ')}` : ''}`;
    case 'lease.claimed':
      return `taken by ${body.workerId.split('/').at(-1)}`;
    case 'lease.renewed':
      return 'still being worked on';
    case 'lease.released':
      return `let go by ${body.workerId.split('/').at(-1)} (${body.why})`;
    case 'run.started':
      return `${body.mode}, attempt ${body.attempt}, by ${body.agent}`;
    case 'run.progressed':
      return `${body.percent} %, ${body.text}`;
    case 'run.spent':
      return `spent so far: ${body.usage.inputTokens} tokens in, ${body.usage.outputTokens} out`;
    case 'run.session_known':
      return `session ${body.session}`;
    case 'guard.denied':
      return `${body.tool} denied by ${body.guard}: ${body.reason}`;
    case 'run.sent_back':
      return `sent back to repair ${body.gates.join(', ')} (${body.retry})`;
    case 'run.finished':
      return `ended: ${body.outcome}${body.failure ? `, ${body.failure}` : ''}${body.message ? `, ${body.message}` : ''}`;
    case 'work.committed':
      return `committed ${body.commit.slice(0, 10)}${body.notes.length > 0 ? ` (${body.notes.join('; ')})` : ''}`;
    case 'evidence.recorded':
      return `gate ${body.evidence.gate}: ${body.evidence.status}, ${took(body.evidence.durationMs)}`;
    case 'failure.counted':
      return `failure ${body.count}: ${body.failure}`;
    case 'merge.prepared':
      return `ready to land as ${body.commit.slice(0, 10)}`;
    case 'merge.abandoned':
      return `not landed: ${body.why}`;
    case 'merge.landed':
      return `landed as ${body.commit.slice(0, 10)}`;
    case 'snapshot.taken':
      return `work kept as ${body.ref} (${body.why})`;
    case 'conflict.file_resolved':
      return `${body.by} resolved ${body.path}${body.how === 'text' ? '' : ` (${body.how})`}`;
    case 'conflict.settled':
      return `the conflict is resolved, says ${body.by}`;
    case 'conflict.aborted':
      return `${body.by} gave up what conflicted; it begins anew on ${body.branch}`;
    case 'alert.repeated':
      return 'the same alert again';
    case 'alert.acknowledged':
      return `alert seen by ${body.by}`;
    case 'question.asked':
      return `${body.question.ref} ${body.question.agent} asks (${body.question.type}): ${body.question.text}`;
    case 'question.answered':
      return `answered by ${body.answer.by}${body.answer.source === 'user' ? '' : ` (${body.answer.source})`}: ${body.answer.text}`;
    case 'question.held':
      return `cannot go on without an answer: ${body.text}`;
    case 'question.reminded':
      return 'reminded of a question';
    case 'question.closed':
      return `question ${body.status}: ${body.why}`;
    case 'preference.learned':
      return body.isActive
        ? `learned: "${body.text}" is answered with "${body.answer}"`
        : `noted an answer to "${body.text}"`;
    case 'preference.revoked':
      return `a learned default was revoked by ${body.by}`;
    case 'budget.limited':
      return `the budget of all projects is ${body.limits.dailyUsd} USD a day, ${body.limits.monthlyUsd} USD a month`;
    case 'budget.threshold_reached':
      return `${body.threshold} % of the ${body.period} budget: ${body.spentUsd.toFixed(2)} of ${body.limitUsd.toFixed(2)} USD`;
    case 'notification.queued':
      return `told ${body.notification.channel}: ${body.notification.title}`;
    case 'notification.tried':
      return body.error === null ? 'delivered' : `not delivered: ${body.error}`;
    case 'supervisor.decided':
      return `supervisor: ${body.action} ${body.subject} (${body.reason})`;
    case 'emergency.executed':
      return `${body.operation} by ${body.by}: ${body.reason}`;
    case 'worker.wished':
      return `${body.workerId.split('/').at(-1)} shall be ${body.wish} (${body.by})`;
    case 'worker.beat':
      return `${body.workerId.split('/').at(-1)} is alive, ${Math.round(body.beat.memoryMb)} MB`;
    case 'worker.crashed':
      return `${body.workerId.split('/').at(-1)} crashed: ${body.error}`;
    case 'worker.reset':
      return `${body.workerId.split('/').at(-1)} starts from zero (${body.by})`;
    case 'task.edited': {
      const { type: _type, taskId: _task, by, ...changed } = body;
      return `${by} changed its ${Object.keys(changed).join(', ')}`;
    }
    case 'task.assigned':
      return body.workerId === null ? 'any worker may take it' : `only for ${body.workerId.split('/').at(-1)}`;
    case 'task.matter_approved':
      return `${body.by} agreed to ${body.matters.join(', ')}`;
    case 'run.overdrawn':
      return `its money is used up (${body.spentUsd.toFixed(2)} USD)`;
    case 'alert.raised':
      return `${body.kind}: ${body.text}`;
  }
}

/** Number first, so that lines of one task can be found; ids never. */
export function eventText(event: LoggedEvent, task: { number: number; title: string } | null): string {
  const text = oneLine(describeEvent(event));
  return task ? `#${task.number}  ${text}` : text;
}

/** What a person follows; the rest is bookkeeping. */
const TOLD = new Set([
  'task.created',
  'task.moved',
  'task.blocked',
  'task.parked',
  'task.waiting',
  'run.started',
  'run.sent_back',
  'question.asked',
  'question.answered',
  'merge.abandoned',
  'merge.landed',
  'snapshot.taken',
  'conflict.settled',
  'conflict.aborted',
  'alert.raised',
  'worker.wished',
  'worker.crashed',
  'emergency.executed',
]);

export function isTold(event: LoggedEvent): boolean {
  const { body } = event;
  if (body.type === 'evidence.recorded') return body.evidence.status !== 'pass';
  if (body.type === 'run.finished') return body.failure !== null;
  return TOLD.has(body.type);
}
