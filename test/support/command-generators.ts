import {
  ALL_PROJECTS,
  type AskedQuestion,
  AUTONOMY_PRESETS,
  accountId,
  CATEGORIES,
  ENGINE,
  type GateStatus,
  type IdeaCorrection,
  type MergeLoss,
  Outcome,
  PauseTrigger,
  ProposalOutcome,
  personActor,
  type Question,
  type Role,
  TraceSource,
  TraceType,
  type Usage,
} from '@tidemill/contract';
import { alertId, type CommandOf, type CommandType } from '@tidemill/core';
import { deliveryGenerators, ENVIRONMENTS } from './delivery-generators.ts';
import { at, type Draw, idOf, projectId, recordOf } from './draw.ts';
import { GUARD_GENERATORS } from './guard-generators.ts';
import { lessonGenerators } from './lesson-generators.ts';
import type { Mill } from './mill.ts';
import { receipt } from './mill.ts';
import { promptChangeGenerators } from './prompt-change-generators.ts';
import { reflectionGenerators } from './reflection-generators.ts';
import { replayGenerators } from './replay-generators.ts';
import { specGenerators } from './spec-generators.ts';
import { TRACKER_GENERATORS } from './tracker-generators.ts';

export const TREES = ['T0', 'T1', 'T2'];
export const roleOf = (workerId: string): Role => (workerId.startsWith('agent') ? 'builder' : (workerId as Role));

const STATUSES: GateStatus[] = ['pass', 'pass', 'pass', 'fail', 'unverified'];
const FILES = [[], [], ['src/'], ['src/a.ts', 'docs/b.md'], ['**/*.md']];
const STAGES = ['open', 'plan', 'implement', 'verify', 'review', 'merge', 'done', 'x'];
const TEXTS = ['Which colour?', 'How many?', 'Should it be loud?'];
const usageOf = (a: number): Usage => ({
  inputTokens: a,
  outputTokens: 1,
  costUsd: a % 4 ? a / 100 : null,
  requests: a % 3,
});

const some = (mill: Mill, bits: number) => [...mill.tasks.keys()].filter((_, index) => (bits >> (index % 6)) & 1);

/** A proposal and its category. */
function aboutProposal({ mill, a }: Draw) {
  const proposal = recordOf(mill, 'proposal', a);
  return { projectId, proposalId: proposal?.id ?? 'proposal_0', categoryId: proposal?.categoryId ?? 'category_0' };
}

/** A question and its task, sometimes a wrong one. */
function aboutQuestion({ mill, task, a, b }: Draw): {
  questionId: string;
  taskId: string | null;
  subjectId: string | null;
} {
  const question: Question | undefined = recordOf(mill, 'question', a);
  return {
    subjectId: question?.subjectId ?? null,
    questionId: question?.id ?? 'question_0',
    taskId: b % 7 === 0 || !question ? task.id : question.taskId,
  };
}

function asked(a: number, b: number): AskedQuestion {
  const type = at(['blocking', 'clarifying', 'confirming', 'preference', 'educational', 'celebratory'] as const, b);
  const options = a % 2 ? [{ label: 'red', description: '', recommended: b % 2 > 0, implications: '' }] : [];
  return { text: at(TEXTS, a), type, context: '', options, allowFreeText: true, tags: [] };
}

function failureOf(outcome: Outcome, b: number) {
  if (outcome !== 'failed') return { outcome };
  return { outcome, failure: at(['crash', 'no_result', 'validation', 'unverified_gate', 'network'] as const, b) };
}

const lossOf = (a: number): MergeLoss => ({
  ...{ path: 'a.ts', kind: 'lines', detail: '', lines: [{ line: 3, text: `x${a}` }], lineCount: 1 },
  content: `loss-${a}`,
});

const of = ({ task }: Draw) => ({ projectId, taskId: task.id, by: personActor('ada') });
const ofIdea = ({ mill, a }: Draw) => ({ projectId, ideaId: idOf(mill, 'idea', a), by: personActor('ada') });
const CORRECTIONS: IdeaCorrection[] = [
  { kind: 'artifact', type: 'problem', summary: 'x', content: '', confidence: 1 },
  { kind: 'risk', text: 'it rains', severity: 'high' },
  { kind: 'decision', type: 'validation', text: 'ten people asked', id: 'decision_0' },
  { kind: 'confidence', value: 0.9 },
];
const runIdOf = ({ leased }: Draw) => leased.lastRunId ?? 'run_0';

/** One generator for every command; many of its commands are invalid. A command without one does not compile. */
export const GENERATORS: { [T in CommandType]: (draw: Draw) => Omit<CommandOf<T>, 'type'> } = {
  'project.register': ({ mill }) => ({ projectId, name: 'again', root: '/again', rules: mill.rules() }),
  'project.move': ({ a }) => ({ projectId, root: at(['/here', '/there'], a) }),
  'project.configure': ({ mill, a }) => {
    const gates = a % 3 ? ['integrity', 'test'] : ['integrity', 'test', 'lint'];
    const hilConfig = at([AUTONOMY_PRESETS.full, AUTONOMY_PRESETS.confirm_all], a);
    return { projectId, rules: { ...mill.rules(), reviewPlans: a % 2 > 0, gates, hilConfig, delivery: ENVIRONMENTS } };
  },
  'worker.register': ({ workerId, a }) => ({
    projectId,
    workerId,
    name: workerId,
    role: roleOf(workerId),
    ...(a % 9 === 0 ? { isOutside: true } : {}),
  }),
  'worker.remove': ({ workerId }) => ({ projectId, workerId }),
  'worker.steer': ({ workerId, a }) => ({
    projectId,
    workerId,
    desired: a % 3 ? 'running' : at(['paused', 'stopped'] as const, a),
    by: personActor('ada'),
  }),
  'worker.beat': ({ workerId, a }) => ({ projectId, workerId, beat: { memoryMb: a, cpuPercent: 1 } }),
  'worker.crash': ({ workerId, a }) => ({ projectId, workerId, error: `broke ${a}` }),
  'worker.reset': ({ workerId }) => ({ projectId, workerId, by: personActor('ada') }),
  'supervisor.decide': ({ task, a }) => ({
    projectId,
    taskId: a % 2 ? task.id : null,
    action: 'watch',
    subject: `#${task.number}`,
    reason: 'silent',
  }),
  'emergency.record': ({ task }) => ({
    projectId,
    operation: 'purge_queue',
    by: personActor('ada'),
    reason: 'x',
    workers: [],
    tasks: [task.number],
  }),

  'task.create': ({ mill, a, b }) => ({
    projectId,
    taskId: `task_${mill.tasks.size + (b % 11 === 0 ? 0 : 1)}`,
    title: `Task ${a}`,
    body: a % 2 ? '- [ ] boxed' : '',
    kind: 'feature',
    accept: b % 5 ? ['given'] : [],
    priority: a % 5,
    files: at(FILES, a),
    dependsOn: a % 3 === 0 ? some(mill, b) : [],
    pipeline: at(['feature', 'bug', 'quick', 'quick', 'none'], b),
  }),
  'task.set_dependencies': ({ mill, task, a }) => ({ projectId, taskId: task.id, dependsOn: some(mill, a) }),
  'task.edit': (draw) => ({
    ...of(draw),
    accept: draw.b % 2 ? ['given', `new ${draw.b}`] : [],
    priority: draw.b % 5,
    files: at(FILES, draw.b),
  }),
  'task.note': (draw) => ({ ...of(draw), text: 'mind this' }),
  'task.assign': (draw) => ({ ...of(draw), workerId: draw.a % 3 ? null : draw.workerId }),
  'task.wake': ({ task }) => ({ projectId, taskId: task.id }),
  'task.cancel': (draw) => ({ ...of(draw), ...(draw.b % 4 ? {} : { from: at(STAGES, draw.a) }) }),
  'task.retry': (draw) => ({
    ...of(draw),
    ...(draw.a % 3 === 0 ? { stage: at(STAGES, draw.b) } : {}),
    ...(draw.b % 2 ? { note: 'try this' } : {}),
  }),
  'task.approve': (draw) => ({ ...of(draw), ...(draw.a % 3 ? {} : { note: 'fine' }) }),
  'task.reject': (draw) => ({ ...of(draw), note: 'no' }),

  'work.claim': ({ workerId, a }) => ({
    projectId,
    workerId,
    role: roleOf(workerId),
    owner: 'daemon',
    window: a % 5 ? 1000 : 1,
  }),
  'job.request': ({ a, b }) => ({
    projectId,
    subjectId: b % 9 ? projectId : 'task_1',
    jobId: `job_${a % 4}`,
    mode: 'trial',
    input: 'x'.repeat(b),
    by: personActor('ada'),
  }),
  'job.claim': ({ workerId }) => ({ projectId, workerId, owner: 'daemon' }),
  'job.cancel': ({ a }) => ({ projectId, subjectId: projectId, jobId: `job_${a % 4}`, why: 'not needed' }),
  'idea.create': ({ a, b }) => ({ projectId, ideaId: `idea_${a % 3}`, text: `Idea ${b}`, by: personActor('ada') }),
  'idea.say': (draw) => ({ ...ofIdea(draw), text: `and ${draw.b}` }),
  'idea.begin_reply': ({ mill, a }) => {
    const idea = recordOf(mill, 'idea', a);
    return { projectId, ideaId: idea?.id ?? 'idea_0', jobId: idea?.jobId ?? 'job_0' };
  },
  'idea.correct': (draw) => ({ ...ofIdea(draw), correction: at(CORRECTIONS, draw.b) }),
  'idea.remove_signal': (draw) => ({
    ...ofIdea(draw),
    kind: at(['artifact', 'decision', 'risk', 'confidence'] as const, draw.b),
    key: at(['problem', 'brief', recordOf(draw.mill, 'idea', draw.a)?.risks[0]?.id ?? 'x'], draw.b),
  }),
  'idea.pause': (draw) => ofIdea(draw),
  'idea.resume': (draw) => ofIdea(draw),
  'idea.archive': (draw) => ofIdea(draw),
  'idea.fork': (draw) => ({ ...ofIdea(draw), forkId: `idea_${draw.b % 5}` }),
  'idea.end_research': (draw) => ({
    ...ofIdea(draw),
    status: at(['done', 'skipped', 'failed', 'off'] as const, draw.b),
    why: '',
    artifact: draw.b % 2 ? { summary: 'x', content: 'found', confidence: 0.5 } : null,
  }),
  'lease.renew': ({ fence, a }) => ({ ...fence, ...(a % 4 ? {} : { frozenMs: 1000 }) }),
  'lease.release': ({ fence }) => ({ ...fence, why: 'shutdown' }),
  'lease.take': ({ task, a }) => ({
    projectId,
    subjectId: task.id,
    by: personActor('ada'),
    why: 'taken',
    isStuck: a % 2 > 0,
  }),
  'lease.expire': ({ task, a }) => ({
    projectId,
    subjectId: task.id,
    token: task.fence - (a % 4 ? 0 : 1),
    ownerIsDead: a % 2 > 0,
  }),

  'run.start': ({ mill, fence, a }) => ({
    ...fence,
    runId: `run_${mill.runs.size + 1}`,
    mode: 'implement',
    agent: 'x',
    ...(a % 5 ? {} : { isFree: true }),
  }),
  'run.ask': (draw) => ({ ...draw.fence, runId: runIdOf(draw), questions: [asked(draw.a, draw.b)] }),
  'run.progress': (draw) => ({ ...draw.fence, runId: runIdOf(draw), percent: draw.a, text: 'x' }),
  'run.spend': (draw) => {
    // Sometimes for a run that lost its lease.
    const late = [...draw.mill.runs.values()].find(({ outcome }) => outcome === 'interrupted');
    const about = draw.b % 3 === 0 && late ? { taskId: late.subjectId, runId: late.id } : { runId: runIdOf(draw) };
    return { ...draw.fence, ...about, usage: usageOf(draw.a) };
  },
  'run.brief': (draw) => ({ ...draw.fence, runId: runIdOf(draw), promptTokens: draw.a, dropped: [] }),
  'run.record_session': (draw) => ({ ...draw.fence, runId: runIdOf(draw), session: 's' }),
  'guard.deny': (draw) => ({ ...draw.fence, runId: runIdOf(draw), guard: 'g', tool: 'Bash', reason: 'no' }),
  'run.send_back': (draw) => ({ ...draw.fence, runId: runIdOf(draw), gates: ['test'] }),
  'run.finish': (draw) => ({
    ...draw.fence,
    runId: runIdOf(draw),
    ...failureOf(at(Outcome.options, draw.a), draw.b),
    envelope: draw.a % 3 ? null : { outcome: 'needs_info', summary: 'asks', open_questions: [asked(draw.b, draw.a)] },
    usage: usageOf(draw.b),
    tree: at(TREES, draw.b),
    ...(draw.b % 2 ? { workerId: draw.workerId } : {}),
    ...(draw.a % 2 ? { touches: { dependencyModifications: `v${draw.b % 2}` } } : {}),
  }),

  'stage.finish': ({ fence, a, b }) => ({
    ...fence,
    ...failureOf(at(Outcome.options, a), b),
    message: 'it ended',
    tree: at(TREES, b),
    ...(a % 2 ? { touches: { dependencyModifications: `v${b % 2}` } } : {}),
  }),
  'stage.wait': ({ fence, a }) => ({
    ...fence,
    why: 'dirty',
    untilMs: 5_000,
    isPassing: a % 2 > 0,
    ...(a % 3 === 0 ? { landing: { maxMs: 60_000 } } : {}),
  }),
  'stage.hold': ({ fence, a }) => ({ ...fence, files: [{ file: 'x.test.ts', why: 'a test', content: `c${a % 3}` }] }),
  'stage.return_to_builder': ({ fence }) => fence,
  'stage.veto': ({ fence, a }) => ({ ...fence, losses: [lossOf(a % 3)] }),
  'work.commit': ({ fence, b }) => ({ ...fence, commit: `c-${at(TREES, b)}`, tree: at(TREES, b), notes: [] }),
  'work.judge': ({ fence, a, b }) => ({
    ...fence,
    oldChecks: {
      tree: at(TREES, b),
      judged: `old ${at(TREES, b)}`,
      result: at(['passed', 'failed', 'same', 'not_run'] as const, a),
      findings: a % 4 === 1 ? [{ gate: 'test', reason: 'expectation', files: ['x.test.ts'], output: '1 failed' }] : [],
      why: '',
    },
  }),
  'snapshot.note': ({ task }) => ({ projectId, taskId: task.id, ref: 'refs/x', why: 'why' }),
  'evidence.record': ({ fence, a, b }) => ({
    ...fence,
    receipts: [receipt(at(['test', 'integrity'], a), at(TREES, b), at(STATUSES, b))],
  }),
  'merge.prepare': ({ fence, b }) => ({
    ...fence,
    commit: `landing ${at(TREES, b)}`,
    tree: at(TREES, b),
    base: 'base',
  }),
  'merge.offer': ({ fence, b }) => ({ ...fence, commit: 'offered', tree: at(TREES, b), name: 'origin/task/1' }),
  'merge.note_pull': ({ fence, a }) => ({ ...fence, number: (a % 3) + 1, url: 'https://github.example/pull/1' }),
  'merge.queue': ({ fence, a }) => ({ ...fence, after: a % 2 ? '' : `removal_${a}` }),
  'merge.note_merged': ({ task, a }) => ({
    projectId,
    taskId: task.id,
    number: (a % 3) + 1,
    head: task.head?.commit ?? 'merged',
  }),
  'merge.record_comments': ({ fence, a }) => ({
    ...fence,
    seen: { comment: a, line: 0, review: 0 },
    authors: ['ada'],
    feedback: [{ kind: 'person' as const, text: 'Shorter.', files: [] }],
  }),
  'merge.ask': ({ fence, a }) => ({
    ...fence,
    about: `closed:${a % 3}`,
    text: 'Open it again?',
    context: '',
    approves: 'It is.',
  }),
  'merge.abandon': ({ fence }) => ({ ...fence, why: 'moved' }),
  'merge.land': ({ fence, a, b, workerId }) => ({
    ...fence,
    commit: `landing ${at(TREES, b)}`,
    ...(a % 2 ? { workers: [workerId] } : {}),
  }),

  'conflict.resolve_file': (draw) => ({ ...of(draw), path: 'a', how: 'ours' }),
  'conflict.begin_settle': (draw) => ({
    ...of(draw),
    ...(draw.a % 2 ? { accepts: [lossOf(draw.b % 3).content] } : {}),
  }),
  'conflict.settle': (draw) => ({
    ...of(draw),
    commit: `settled ${draw.a}`,
    tree: at(TREES, draw.a),
    notes: [],
    ...(draw.b % 2 ? { accepts: [lossOf(draw.b % 3)] } : {}),
  }),
  'conflict.abort': (draw) => ({ ...of(draw), snapshot: null }),
  'conflict.retry': ({ task }) => ({ projectId, taskId: task.id }),

  'question.ask': ({ task, a, b }) => ({
    projectId,
    taskId: a % 3 ? task.id : null,
    stage: task.stage,
    questions: [asked(a, b), asked(b, a)],
    agent: 'engine',
    source: at(['engine', 'catalogue'] as const, b),
    sourceId: at(['x', 'y'], a),
    ...(b % 5 === 0 ? { effect: { kind: 'unblock' as const, leaves: ['red'] } } : {}),
    ...(b % 5 === 1 ? { effect: { kind: 'stuck' as const } } : {}),
  }),
  'question.answer': (draw) => ({
    projectId,
    ...aboutQuestion(draw),
    by: personActor('ada'),
    source: 'user',
    text: at(['red', 'blue', 'yes', 'no', '', 'Roll back', 'Run it again'], draw.b),
  }),
  'question.expire': (draw) => ({ projectId, ...aboutQuestion(draw) }),
  'question.remind': (draw) => ({ projectId, ...aboutQuestion(draw) }),
  'preference.revoke': ({ mill, a }) => ({
    projectId,
    preferenceId: idOf(mill, 'preference', a),
    by: personActor('ada'),
  }),

  'alert.raise': ({ task, a, b }) => ({
    projectId,
    taskId: a % 2 ? task.id : null,
    kind: at(['environment', 'stuck'] as const, b),
    text: 'x',
    severity: at(['info', 'critical'] as const, a),
  }),
  'alert.acknowledge': ({ a }) => ({
    projectId,
    alertId: alertId(projectId, at(['environment', 'stuck', 'channel'], a), ''),
    by: personActor('ada'),
  }),
  'alert.resolve': ({ a }) => ({ projectId, kind: at(['environment', 'stuck', 'channel'], a) }),
  'notification.queue': ({ task, a }) => ({
    projectId,
    notification: {
      id: `notification_${a % 4}`,
      taskId: a % 2 ? task.id : null,
      channel: 'phone',
      severity: 'info',
      title: 't',
      text: 't',
      about: 'x',
      group: 'x',
      questionIds: [],
      nextAt: 1,
    },
  }),
  'notification.settle': ({ a, b }) => ({
    projectId,
    notificationId: `notification_${a % 5}`,
    error: b % 2 ? 'away' : null,
    reference: null,
    nextAt: b % 2 ? 5 : null,
  }),
  'forecast.record': ({ mill, task, a, b }) => ({
    projectId,
    taskId: task.id,
    commit: b % 7 === 0 ? 'another' : (task.head?.commit ?? 'none'),
    size: { files: 1, lines: a % 9 },
    compared: [
      { taskId: null, commit: 'target', files: a % 2 ? ['a'] : [], size: null },
      ...[...mill.tasks.values()].slice(0, 3).map(({ id, head }) => ({
        taskId: id,
        commit: b % 5 === 0 ? null : (head?.commit ?? null),
        files: a % 3 === 0 ? [] : ['a', 'b'].slice(0, a % 3),
        size: { files: 1, lines: b % 9 },
      })),
    ],
  }),
  ...specGenerators,
  'feedback.give': ({ a }) => ({
    projectId,
    feedbackId: `feedback_${a % 5}`,
    text: at(TEXTS, a),
    by: personActor('ada'),
  }),
  'feedback.analyse': ({ mill, a }) => ({ projectId, feedbackId: idOf(mill, 'feedback', a), by: personActor('ada') }),
  'feedback.file': ({ mill, a, b }) => ({
    projectId,
    feedbackId: idOf(mill, 'feedback', a),
    taskId: `task_f${b % 20}`,
    linkedTask: b % 2 ? 1 : null,
    linkedSpec: null,
  }),
  'feedback.dismiss': ({ mill, a }) => ({
    projectId,
    feedbackId: idOf(mill, 'feedback', a),
    by: personActor('ada'),
    why: '',
  }),
  'trace.store': ({ a, b }) => ({
    projectId,
    trace: {
      ...{ id: `trace_${a % 9}`, type: at(TraceType.options, a), source: at(TraceSource.options, b), at: a, seq: null },
      ...{ subjectId: null, runId: b % 2 ? `run_${b % 3}` : null, taskNumber: null, agent: null, files: ['a.ts'] },
      ...{ key: `guard:push:${b % 2}`, what: b % 9 ? 'it pushed' : '', correct: null, why: null, by: ENGINE },
    },
  }),
  'trace.retrieve': ({ a }) => ({ projectId, traceIds: a % 2 ? [`trace_${a % 9}`] : [], runId: `run_${a % 3}` }),
  'loop.switch': ({ a }) => ({ projectId, on: a % 3 > 0, by: personActor('ada') }),
  'loop.hold': ({ a }) => ({ projectId, until: a % 2 > 0 ? null : a * 1_000 }),
  'loop.pause': ({ a }) => ({ projectId, trigger: at(PauseTrigger.options, a), why: 'too dear' }),
  'loop.propose': ({ a }) => ({ projectId, category: at(CATEGORIES, a % 3), by: ENGINE }),
  'proposal.check': (draw) => ({
    ...aboutProposal(draw),
    verdict: at(['waiting', 'waiting', 'duplicate', 'invalid'] as const, draw.b),
    why: 'like #1',
    related: [],
  }),
  'proposal.accept': (draw) => ({ ...aboutProposal(draw), taskId: draw.task.id, by: personActor('ada') }),
  'proposal.refuse': (draw) => ({ ...aboutProposal(draw), why: 'no', by: personActor('ada') }),
  'proposal.score': (draw) => ({ ...aboutProposal(draw), score: draw.b % 11, by: personActor('ada') }),
  'proposal.end': (draw) => ({ ...aboutProposal(draw), outcome: at(ProposalOutcome.options, draw.b) }),
  ...lessonGenerators,
  ...replayGenerators,
  ...deliveryGenerators,
  ...reflectionGenerators,
  ...promptChangeGenerators,
  ...GUARD_GENERATORS,
  ...TRACKER_GENERATORS,
  'budget.limit': ({ a }) => ({
    projectId,
    accountId: accountId(ALL_PROJECTS),
    limits: { dailyUsd: 1 + (a % 3) * 50, monthlyUsd: 500 },
    timeZone: 'UTC',
    by: personActor('ada'),
  }),
  'token.add': ({ a, b }) => ({ projectId, ...aToken(a, b), role: 'viewer', by: personActor('ada') }),
  'token.revoke': ({ a, b }) => ({ projectId, name: aToken(a, b).name, by: personActor('ada') }),
  'token.use': ({ a, b }) => ({ projectId, ...aToken(a, b) }),
};

const aToken = (a: number, b: number) => ({ name: at(['ci', 'CI', 'box'], a), hash: at(['h1', 'h2'], b) });
