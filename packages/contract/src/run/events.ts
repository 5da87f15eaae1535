import { z } from 'zod';
import { event, mill, ofSubject, said, spaced, usd } from '../event/define.ts';
import { RecordedCall } from '../guard-proposal/recorded-call.ts';
import { workerName } from '../worker/worker.ts';
import { NO_PROGRESS, ProgressChange, progressWords } from './progress.ts';
import { AgentEnvelope, FailureClass, MAX_USD, Mode, Outcome, storedNumber, Usage } from './run.ts';

export const runEvents = [
  event(
    'run.started',
    {
      ...ofSubject,
      runId: z.string(),
      workerId: z.string(),
      stage: z.string(),
      mode: Mode,
      agent: z.string(),
      attempt: z.number(),
      reservedUsd: storedNumber(MAX_USD).default(0),
      /** Its agent is declared free: a run without reported usage costs nothing. */
      isFree: z.boolean().optional(),
      usualMs: z.number().optional(),
      /** The hand-off that it takes up. */
      handOffId: z.string().optional(),
    },
    {
      stale: ['task', 'runs'],
      shown: 'terminal',
      says: ({ workerId, mode, agent, attempt }) =>
        said(workerName(workerId), `started ${spaced(mode)} with ${agent}${attempt > 1 ? `, attempt ${attempt}` : ''}`),
    },
  ),
  /** It has spent its reservation, and the budget is exhausted. */
  event(
    'run.overdrawn',
    { ...ofSubject, runId: z.string(), spentUsd: storedNumber(MAX_USD) },
    {
      stale: ['task', 'runs'],
      leavesSummary: true,
      says: ({ spentUsd }) => mill(`the run has spent ${usd(spentUsd)}, its whole reservation`),
    },
  ),
  event(
    'run.progressed',
    { ...ofSubject, runId: z.string(), ...ProgressChange.shape },
    {
      leavesSummary: true,
      shown: 'log',
      says: ({ text, ...more }) => {
        const words = [progressWords({ ...NO_PROGRESS, ...more }), text];
        return said('agent', words.filter((part) => part !== '').join(', '));
      },
    },
  ),
  /** Provisional while the run is active: an interrupted run has cost this much. */
  event(
    'run.spent',
    { ...ofSubject, runId: z.string(), usage: Usage },
    {
      stale: ['task', 'runs'],
      leavesSummary: true,
      shown: 'log',
      says: ({ usage }) =>
        said('agent', `spent so far: ${usage.inputTokens} tokens in, ${usage.outputTokens} tokens out`),
    },
  ),
  event(
    'run.briefed',
    {
      ...ofSubject,
      runId: z.string(),
      promptTokens: z.number(),
      dropped: z.array(z.string()),
      lessons: z.array(z.string()).default([]),
    },
    {
      stale: ['task', 'runs'],
      leavesSummary: true,
      shown: 'log',
      says: ({ promptTokens, dropped, lessons }) =>
        mill(
          [
            `briefed the agent with about ${promptTokens} tokens`,
            ...(lessons.length > 0 ? [`lessons: ${lessons.join(', ')}`] : []),
            ...(dropped.length > 0 ? [`left out: ${dropped.join(', ')}`] : []),
          ].join('; '),
        ),
    },
  ),
  event(
    'run.session_known',
    { ...ofSubject, runId: z.string(), session: z.string() },
    {
      stale: ['task', 'runs'],
      leavesSummary: true,
      shown: 'log',
      says: ({ session }) => said('agent', `session ${session}`),
    },
  ),
  event(
    'guard.denied',
    {
      ...ofSubject,
      runId: z.string(),
      guard: z.string(),
      tool: z.string(),
      reason: z.string(),
      /** What was refused, without secrets and shortened. Absent in old events. */
      call: RecordedCall.optional(),
    },
    { leavesSummary: true, says: ({ guard, tool, reason }) => said(`guard ${guard}`, `denied ${tool}: ${reason}`) },
  ),
  event(
    'run.sent_back',
    { ...ofSubject, runId: z.string(), retry: z.number(), gates: z.array(z.string()) },
    {
      stale: ['task', 'runs'],
      shown: 'terminal',
      says: ({ gates, retry }) => mill(`sent the agent back to repair ${gates.join(', ')} (retry ${retry})`),
    },
  ),
  event(
    'run.finished',
    {
      ...ofSubject,
      runId: z.string(),
      outcome: Outcome,
      failure: FailureClass.nullable(),
      message: z.string(),
      envelope: AgentEnvelope.nullable(),
      usage: Usage,
      /** The last sign of a worker that was lost: its work ended then, at the latest. */
      lostAt: z.number().optional(),
      /** When the vendor allows the next one. Absent in old events, and where the vendor did not say. */
      retryAt: z.number().optional(),
      /** The worker whose figures count it. */
      workerId: z.string().optional(),
    },
    {
      stale: ['task', 'runs'],
      shown: ({ failure }) => (failure === null ? 'page' : 'terminal'),
      says: ({ workerId, outcome, failure, message, envelope, usage }) => {
        const words = message || envelope?.summary;
        const cost = usage.costUsd ? `, ${usd(usage.costUsd)}` : '';
        return said(
          workerId ? workerName(workerId) : 'agent',
          `ended: ${spaced(outcome)}${failure ? `, ${spaced(failure)}` : ''}${cost}${words ? `: ${words}` : ''}`,
        );
      },
    },
  ),
] as const;
