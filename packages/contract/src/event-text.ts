import { took } from './duration-text.ts';
import type { EventBody, EventType } from './event.ts';
import { workerName } from './worker.ts';

/** An event as a person would tell it: who, and what they did. The task it is about stands beside it. */
export interface EventText {
  who: string;
  text: string;
}

/** Whoever acts when nobody else does. */
export const MILL = 'mill';

type Told<T extends EventType> = (body: Extract<EventBody, { type: T }>) => EventText;

const said = (who: string, text: string): EventText => ({ who: who || 'somebody', text });
const mill = (text: string): EventText => ({ who: MILL, text });
const spaced = (name: string) => name.replaceAll('_', ' ');
const usd = (amount: number) => `$${amount.toFixed(2)}`;
const because = (why: string) => (why ? `, ${spaced(why)}` : '');

const TOLD: { [T in EventType]: Told<T> } = {
  'project.registered': ({ name }) => mill(`got to know the project ${name}`),
  'project.configured': ({ rules }) => mill(`read the settings, ${counted(rules.gates.length, 'gate')}`),

  'worker.registered': ({ name, role, isOutside }) => said(name, `is there (${isOutside ? 'from outside' : role})`),
  'worker.removed': ({ workerId }) => said(workerName(workerId), 'left'),
  'worker.wished': ({ workerId, wish, by }) => said(by, `wants ${workerName(workerId)} ${wish}`),
  'worker.beat': ({ workerId, beat }) => said(workerName(workerId), `is alive, ${Math.round(beat.memoryMb)} MB`),
  'worker.crashed': ({ workerId, error, status }) => said(workerName(workerId), `${status}: ${error}`),
  'worker.reset': ({ workerId, by }) => said(by, `set ${workerName(workerId)} back to zero`),
  'supervisor.decided': ({ action, subject, reason }) => said('supervisor', `${action} ${subject}: ${reason}`),
  'emergency.executed': ({ operation, by, reason, workers }) =>
    said(by, `${spaced(operation)}, ${reason}: ${workers.map(workerName).join(', ') || 'nobody was at work'}`),

  'task.created': () => said('somebody', 'added it'),
  'task.edited': ({ type: _type, taskId: _task, by, ...changed }) =>
    said(by, `changed its ${Object.keys(changed).join(', ')}`),
  'task.assigned': ({ workerId, by }) =>
    said(by, workerId === null ? 'lets any worker take it' : `wants ${workerName(workerId)} to take it`),
  'task.matter_approved': ({ matters, checks, by }) =>
    said(by, `agreed to ${[...matters, ...(checks ? ['changed checks'] : [])].join(', ')}`),
  'task.dependencies_set': ({ unmet }) => mill(`it waits for ${counted(unmet, 'task')}`),
  'task.dependency_met': () => mill('a task it waited for is done'),
  'task.moved': ({ from, to, because: why }) => mill(`${spaced(from)} → ${spaced(to)}${because(why)}`),
  'task.blocked': ({ reason, text }) => mill(`blocked, ${spaced(reason)}: ${text}`),
  'task.parked': ({ questions }) => mill(`stands still until this is answered: ${questions.join(' / ')}`),
  'task.waiting': ({ why }) => mill(`waits: ${why}`),
  'task.counters_reset': ({ by }) => said(by, 'lets it count from zero again'),
  'task.feedback_given': ({ feedback }) =>
    mill(
      feedback.length === 0
        ? 'everything asked for is dealt with'
        : `hands on: ${feedback.map(({ text }) => text.split('\n')[0]).join(' / ')}`,
    ),
  'task.noted': ({ entry }) => said(entry.by ?? entry.source, entry.summary),
  'task.criteria_judged': ({ criteria }) =>
    said('reviewer', `${criteria.filter(({ met }) => met).length} of ${criteria.length} criteria met`),

  'lease.claimed': ({ workerId }) => said(workerName(workerId), 'took it'),
  'lease.renewed': () => mill('it is still being worked on'),
  'lease.released': ({ workerId, why }) => said(workerName(workerId), `let go${because(why)}`),

  'run.started': ({ workerId, mode, agent, attempt }) =>
    said(workerName(workerId), `began to ${spaced(mode)} with ${agent}${attempt > 1 ? `, attempt ${attempt}` : ''}`),
  'run.briefed': ({ promptTokens, dropped }) =>
    mill(
      `briefed the agent with about ${promptTokens} tokens${dropped.length > 0 ? `; left out: ${dropped.join(', ')}` : ''}`,
    ),
  'run.session_known': ({ session }) => said('agent', `session ${session}`),
  'run.progressed': ({ percent, text }) => said('agent', `${Math.round(percent)} %, ${text}`),
  'run.spent': ({ usage }) =>
    said('agent', `spent so far: ${usage.inputTokens} tokens in, ${usage.outputTokens} tokens out`),
  'run.overdrawn': ({ spentUsd }) => mill(`the run has spent ${usd(spentUsd)}, all it was given`),
  'run.sent_back': ({ gates, retry }) => mill(`sent the agent back to repair ${gates.join(', ')} (${retry})`),
  'run.finished': ({ workerId, outcome, failure, message, envelope, usage }) => {
    const words = message || envelope?.summary;
    const cost = usage.costUsd ? `, ${usd(usage.costUsd)}` : '';
    return said(
      workerId ? workerName(workerId) : 'agent',
      `ended: ${spaced(outcome)}${failure ? `, ${spaced(failure)}` : ''}${cost}${words ? `: ${words}` : ''}`,
    );
  },
  'guard.denied': ({ guard, tool, reason }) => said(`guard ${guard}`, `denied ${tool}: ${reason}`),

  'work.committed': ({ commit, notes }) =>
    mill(`committed ${commit.slice(0, 10)}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`),
  'evidence.recorded': ({ evidence: { gate, status, durationMs } }) =>
    said(
      `gate ${gate}`,
      `${status === 'pass' ? 'passed' : status === 'fail' ? 'failed' : status}, ${took(durationMs)}`,
    ),
  'failure.counted': ({ failure, count }) => mill(`failure ${count}: ${spaced(failure)}`),
  'failure.recognised': ({ count }) =>
    mill(count > 1 ? `the same failure, ${count} times now` : 'a failure not seen before'),
  'snapshot.taken': ({ ref, why }) => mill(`kept the work as ${ref} (${why})`),
  'merge.prepared': ({ commit }) => mill(`is ready to land it as ${commit.slice(0, 10)}`),
  'merge.abandoned': ({ why }) => mill(`did not land it: ${why}`),
  'merge.landed': ({ commit }) => mill(`landed it as ${commit.slice(0, 10)}`),
  'conflict.file_resolved': ({ by, path, how }) => said(by, `resolved ${path}${how === 'text' ? '' : ` (${how})`}`),
  'conflict.settled': ({ by }) => said(by, 'says that the conflict is resolved'),
  'conflict.aborted': ({ by, branch }) => said(by, `gave up what conflicted; it begins anew on ${branch}`),

  'question.asked': ({ question: { ref, agent, type, text } }) => said(agent, `asks ${ref} (${type}): ${text}`),
  'question.answered': ({ answer: { by, source, text } }) =>
    said(by, `answered${source === 'user' ? '' : ` (${source})`}: ${text}`),
  'question.held': ({ text }) => said('agent', `cannot go on without an answer: ${text}`),
  'question.reminded': () => mill('reminded of a question'),
  'question.closed': ({ status, why }) => mill(`question ${status}: ${why}`),
  'preference.learned': ({ isActive, text, answer }) =>
    mill(isActive ? `learned: "${text}" is answered with "${answer}"` : `noted an answer to "${text}"`),
  'preference.revoked': ({ by }) => said(by, 'revoked an answer that was learned'),
  'alert.raised': ({ kind, text }) => mill(`${spaced(kind)}: ${text}`),
  'alert.repeated': () => mill('the same alert again'),
  'alert.acknowledged': ({ by }) => said(by, 'acknowledged an alert'),
  'budget.limited': ({ by, limits }) =>
    said(by, `set the budget of all projects to ${usd(limits.dailyUsd)} a day, ${usd(limits.monthlyUsd)} a month`),
  'budget.threshold_reached': ({ threshold, period, spentUsd, limitUsd }) =>
    mill(`${threshold} % of the ${period} budget: ${usd(spentUsd)} of ${usd(limitUsd)}`),
  'log.unreadable': ({ was, why }) => mill(`an event (${was}) cannot be read: ${why}`),
  'budget.reserved': ({ reserved }) =>
    mill(`set aside anew: ${Object.values(reserved).map(usd).join(', ') || 'nothing'}`),
  'notification.queued': ({ notification: { channel, title } }) => mill(`tells ${channel}: ${title}`),
  'notification.tried': ({ error }) => mill(error === null ? 'a message was delivered' : `not delivered: ${error}`),
};

const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;

export const describeEvent = (body: EventBody): EventText => (TOLD[body.type] as (body: EventBody) => EventText)(body);
