import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { because, counted, event, mill, ofTask, said, spaced } from '../event/define.ts';
import { OldChecks, oldChecksSummary } from '../gate/old-checks.ts';
import { HandOff } from '../hand-off/hand-off.ts';
import { elapsed } from '../text/duration-text.ts';
import { workerName } from '../worker/worker.ts';
import { Declarations, HilConfig, MatterContents } from './autonomy.ts';
import { BlockReason, ContextEntry, Criterion, Feedback, TaskKind, TaskOrigin } from './task.ts';

export const taskEvents = [
  event(
    'task.created',
    {
      ...ofTask,
      number: z.number(),
      title: z.string(),
      body: z.string(),
      kind: TaskKind,
      pipeline: z.string(),
      criteria: z.array(Criterion),
      files: z.array(z.string()),
      dependsOn: z.array(z.string()),
      unmet: z.number(),
      priority: z.number(),
      branch: z.string(),
      hilConfig: HilConfig.nullable().default(null),
      repairs: z.array(z.string()).default([]),
      validate: z.string().default(''),
      estimateMinutes: z.number().nullable().default(null),
      origin: TaskOrigin.nullable().default(null),
    },
    { stale: ['task', 'inbox', 'conflicts', 'conflict'], shown: 'terminal', says: () => said('somebody', 'added it') },
  ),
  /** The new values; missing fields did not change. */
  event(
    'task.edited',
    {
      ...ofTask,
      by: Actor,
      title: z.string().optional(),
      body: z.string().optional(),
      criteria: z.array(Criterion).optional(),
      files: z.array(z.string()).optional(),
      priority: z.number().optional(),
      validate: z.string().optional(),
    },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      says: ({ type: _type, taskId: _task, by, ...changed }) =>
        said(by, `changed its ${Object.keys(changed).join(', ')}`),
    },
  ),
  event(
    'task.assigned',
    { ...ofTask, workerId: z.string().nullable(), by: Actor },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      says: ({ workerId, by }) =>
        said(by, workerId === null ? 'removed the assignment' : `assigned it to ${workerName(workerId)}`),
    },
  ),
  event(
    'task.matter_approved',
    {
      ...ofTask,
      matters: z.array(HilConfig.keyof()),
      /** The content of changed checks that was approved. */
      checks: z.string().optional(),
      /** What a merge dropped of the target, accepted by a person. */
      losses: z.array(z.string()).optional(),
      /** What was asked about its pull request. */
      pull: z.string().optional(),
      contents: MatterContents.optional(),
      declared: Declarations.optional(),
      by: Actor,
    },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      says: ({ matters, checks, losses, pull, by }) => {
        const dropped = losses ? ['that lines of the target are dropped'] : [];
        const what = [
          ...matters,
          ...(checks ? ['changed checks'] : []),
          ...dropped,
          ...(pull ? ['that its pull request goes on'] : []),
        ];
        return said(by, `approved ${what.join(', ') || 'the plan'}`);
      },
    },
  ),
  event(
    'task.dependencies_set',
    { ...ofTask, dependsOn: z.array(z.string()), unmet: z.number() },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      says: ({ unmet }) => mill(`it waits for ${counted(unmet, 'task')}`),
    },
  ),
  event(
    'task.dependency_met',
    { ...ofTask, dependency: z.string() },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'log',
      says: () => mill('a task it waited for is done'),
    },
  ),
  event(
    'task.moved',
    { ...ofTask, from: z.string(), to: z.string(), because: z.string() },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'terminal',
      says: ({ from, to, because: why }) => mill(`${spaced(from)} → ${spaced(to)}${because(why)}`),
    },
  ),
  event(
    'task.blocked',
    { ...ofTask, from: z.string(), reason: BlockReason, text: z.string() },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'terminal',
      says: ({ reason, text }) => mill(`blocked, ${spaced(reason)}: ${text}`),
    },
  ),
  event(
    'task.parked',
    { ...ofTask, from: z.string(), questions: z.array(z.string()) },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'terminal',
      says: ({ questions }) => mill(`waits for an answer: ${questions.join(' / ')}`),
    },
  ),
  event(
    'task.waiting',
    {
      ...ofTask,
      why: z.string(),
      until: z.number(),
      isPassing: z.boolean().optional(),
      /** Finished work cannot land now, because of the person's checkout. */
      isLanding: z.boolean().optional(),
    },
    { stale: ['task', 'inbox', 'conflicts', 'conflict'], shown: 'terminal', says: ({ why }) => mill(`waits: ${why}`) },
  ),
  /** A person answered that a silent task may go on. `ms`: for how long from now. */
  event(
    'task.left_alone',
    { ...ofTask, by: Actor, ms: z.number() },
    {
      stale: ['task', 'inbox'],
      says: ({ by, ms }) => said(by, `lets it go on without a sign of life for ${elapsed(ms)}`),
    },
  ),
  /** A person intervened: earlier failures no longer count. */
  event(
    'task.counters_reset',
    { ...ofTask, by: Actor },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'log',
      says: ({ by }) => said(by, 'reset its failure counters'),
    },
  ),
  event(
    'task.feedback_given',
    { ...ofTask, feedback: z.array(Feedback) },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      shown: 'log',
      says: ({ feedback }) =>
        mill(
          feedback.length === 0
            ? 'cleared the feedback'
            : `feedback: ${feedback.map(({ text }) => text.split('\n')[0]).join(' / ')}`,
        ),
    },
  ),
  event(
    'task.noted',
    { ...ofTask, entry: ContextEntry },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      says: ({ entry }) => said(entry.by ?? entry.source, entry.summary),
    },
  ),
  /** A run passes what it found and decided to the next stage. */
  event(
    'task.handed_off',
    {
      ...ofTask,
      runId: z.string(),
      source: z.enum(['agent', 'reviewer']),
      /** The name of the note. */
      entryType: z.string(),
      handOff: HandOff,
    },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      says: ({ source, handOff: { to, distilled } }) => said(source, `to the ${to}: ${distilled?.summary ?? ''}`),
    },
  ),
  /** The receiver does not rely on it: the task, its plan and its files count. */
  event(
    'task.hand_off_refused',
    { ...ofTask, handOffId: z.string(), why: z.string() },
    { stale: ['task'], shown: 'log', says: ({ why }) => mill(`an earlier hand-off is not used: ${why}`) },
  ),
  event(
    'task.criteria_judged',
    { ...ofTask, criteria: z.array(Criterion) },
    {
      stale: ['task', 'inbox', 'conflicts', 'conflict'],
      says: ({ criteria }) =>
        said('reviewer', `${criteria.filter(({ met }) => met).length} of ${criteria.length} criteria met`),
    },
  ),
  event(
    'work.committed',
    { ...ofTask, commit: z.string(), tree: z.string(), notes: z.array(z.string()) },
    {
      stale: ['task', 'diff'],
      says: ({ commit, notes }) =>
        mill(`committed ${commit.slice(0, 10)}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`),
    },
  ),
  event(
    'work.judged',
    { ...ofTask, oldChecks: OldChecks },
    { stale: ['task'], says: ({ oldChecks }) => mill(`found that ${oldChecksSummary(oldChecks)}`) },
  ),
  event(
    'failure.counted',
    { ...ofTask, failure: z.string(), count: z.number(), notBefore: z.number() },
    { shown: 'log', says: ({ failure, count }) => mill(`failure ${count}: ${spaced(failure)}`) },
  ),
  /** The same failure, apart from numbers, paths and times. */
  event(
    'failure.recognised',
    { ...ofTask, fingerprint: z.string(), count: z.number() },
    {
      shown: 'log',
      says: ({ count }) => mill(count > 1 ? `the same failure, ${count} times now` : 'a new failure'),
    },
  ),
  event(
    'snapshot.taken',
    { ...ofTask, ref: z.string(), why: z.string() },
    {
      stale: ['snapshots'],
      leavesSummary: true,
      shown: 'terminal',
      says: ({ ref, why }) => mill(`kept the work as ${ref} (${why})`),
    },
  ),
] as const;
