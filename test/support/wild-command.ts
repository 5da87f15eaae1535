import { type GateStatus, Outcome, type Role, type Task } from '@tidemill/contract';
import { type Command, modeOf, stageOf } from '@tidemill/core';
import fc from 'fast-check';
import { type Mill, receipt } from './mill.ts';

/** Dice for one step; what they mean depends on the world they are thrown in. */
export type Dice = { kind: number; task: number; worker: number; a: number; b: number; late: boolean };
const nat = (max: number) => fc.nat({ max });
export const dice: fc.Arbitrary<Dice> = fc.record({
  ...{ kind: nat(99), task: nat(99), worker: nat(99), a: nat(99), b: nat(99) },
  late: nat(9).map((value) => value === 0),
});

const projectId = 'project_1';
const usage = { inputTokens: 1, outputTokens: 1, costUsd: null, requests: 0 };
const at = <T>(items: readonly T[], index: number): T => items[index % items.length]!;
const TREES = ['T0', 'T1', 'T2'];
const STATUSES: GateStatus[] = ['pass', 'pass', 'pass', 'fail', 'unverified'];
const FILES = [[], [], ['src/'], ['src/a.ts', 'docs/b.md'], ['**/*.md']];
const NAMES = ['agent-1', 'agent-2', 'reviewer', 'verifier', 'merger'];

/** A command somebody might give now: mostly sensible, often not. Null only where time passes instead. */
export function commandOf(mill: Mill, { kind, task, worker, a, b, late }: Dice): Command | null {
  const ids = [...mill.tasks.keys()];
  const some = (bits: number) => ids.filter((_, index) => (bits >> (index % 6)) & 1);
  const workerId = at(busyOrNeeded(mill), worker);
  if (kind < 4 || ids.length < 2) return create(mill, a, b, a % 3 === 0 ? some(b) : []);
  const taskId = at(ids, task);
  const of = { projectId, taskId, by: 'ada' };
  const stage =
    a % 3 === 0 ? at(['open', 'plan', 'implement', 'verify', 'review', 'merge', 'done', 'x'], b) : undefined;
  if (kind < 6) return { type: 'task.set_dependencies', projectId, taskId, dependsOn: some(a) };
  if (kind < 7) return { type: 'task.cancel', ...of };
  if (kind < 11) return { type: 'task.retry', ...of, stage, ...(b % 2 ? { note: 'try this' } : {}) };
  if (kind < 14) return { type: 'task.approve', ...of };
  if (kind < 16) return { type: 'task.reject', ...of, note: 'no' };
  if (kind < 18) return expire(mill.tasks.get(taskId)!, a);
  if (kind < 19 && a % 3 === 1) return { type: 'task.note', ...of, text: 'mind this' };
  if (kind < 19 && a % 3 === 2)
    return {
      type: 'task.edit',
      ...of,
      accept: b % 2 ? ['given', `new ${b}`] : [],
      priority: b % 5,
      files: at(FILES, b),
    };
  if (kind < 19) return { type: 'snapshot.note', projectId, taskId, ref: 'refs/x', why: 'why' };
  if (mill.tasks.get(taskId)?.blocked?.reason === 'conflict' && b % 2 === 0) return aboutConflict(of, a);
  if (kind < 20) return { type: 'alert.raise', projectId, taskId: a % 2 ? taskId : null, kind: 'x', text: 'x' };
  if (kind < 21) return configure(mill, a);
  if (kind < 22) return staff(a, workerId);
  if (kind < 24) return null;
  const held = [...mill.tasks.values()].find(({ lease }) => lease?.workerId === workerId);
  if (!held && mill.ready(projectId, roleOf(workerId)).length === 0) return unstick(mill, a, b);
  if (!held) return claim(mill, workerId);
  const fence = { projectId, taskId: held.id, token: held.fence - (late ? 1 : 0) };
  return kind < 34 ? anyWrite(mill, held, fence, a, b) : nextWrite(mill, held, fence, a, b);
}

/** What a person does about a conflict. */
function aboutConflict(of: { projectId: string; taskId: string; by: string }, a: number): Command {
  if (a % 3 === 0) return { type: 'conflict.resolve_file', ...of, path: 'a', how: 'ours' };
  if (a % 3 === 1) return { type: 'conflict.settle', ...of, commit: `settled ${a}`, tree: at(TREES, a), notes: [] };
  return { type: 'conflict.abort', ...of, snapshot: null };
}

/** Those who hold a task or could get one; else stories would be about workers with nothing to do. */
function busyOrNeeded(mill: Mill): string[] {
  const holders = new Set([...mill.tasks.values()].map(({ lease }) => lease?.workerId));
  const names = NAMES.filter((name) => holders.has(name) || mill.ready(projectId, roleOf(name)).length > 0);
  return names.length > 0 ? names : NAMES;
}

function create(mill: Mill, a: number, b: number, dependsOn: string[]): Command {
  const fields = { title: `Task ${a}`, body: a % 2 ? '- [ ] boxed' : '', accept: b % 5 ? ['given'] : [] };
  const pipeline = at(['feature', 'bug', 'quick', 'quick', 'none'], b);
  const rest = { kind: 'feature', priority: a % 5, files: at(FILES, a), dependsOn, pipeline } as const;
  return { type: 'task.create', projectId, taskId: `task_${mill.tasks.size + 1}`, ...fields, ...rest };
}

function expire(task: Task, a: number): Command {
  return {
    type: 'lease.expire',
    projectId,
    taskId: task.id,
    token: task.fence - (a % 4 ? 0 : 1),
    ownerIsDead: a % 2 > 0,
  };
}

function configure(mill: Mill, a: number): Command {
  const gates = a % 3 ? ['integrity', 'test'] : ['integrity', 'test', 'lint'];
  return { type: 'project.configure', projectId, rules: { ...mill.rules(), reviewPlans: a % 2 > 0, gates } };
}

const roleOf = (workerId: string): Role => (workerId.startsWith('agent') ? 'builder' : (workerId as Role));

function staff(a: number, workerId: string): Command {
  if (a % 4 === 0) return { type: 'worker.remove', projectId, workerId };
  return { type: 'worker.register', projectId, workerId, name: workerId, role: roleOf(workerId) };
}

/** When no worker has anything to do, a person sees to it that there is. */
function unstick(mill: Mill, a: number, b: number): Command {
  const stuck = [...mill.tasks.values()].filter(({ stage, role }) => role === null && stage !== 'done');
  if (stuck.length === 0) return create(mill, a, b, []);
  const { id: taskId, stage } = at(stuck, b);
  if (stage === 'plan_review' || a % 3 === 0) return { type: 'task.approve', projectId, taskId, by: 'ada' };
  return { type: 'task.retry', projectId, taskId, by: 'ada', note: 'go on' };
}

function claim(mill: Mill, workerId: string): Command {
  if (!mill.workers.has(workerId)) return staff(1, workerId);
  return { type: 'work.claim', projectId, workerId, role: roleOf(workerId), owner: 'daemon', window: 1000 };
}

type FenceFields = { projectId: string; taskId: string; token: number };

/** Any write a holder could try, whether it makes sense or not. */
function anyWrite(mill: Mill, task: Task, fence: FenceFields, a: number, b: number): Command {
  const runId = task.lastRunId ?? 'run_0';
  const tree = at(TREES, b);
  const outcome = at(Outcome.options, a);
  const merge = { commit: `landing ${tree}`, tree, base: 'base' };
  const all: Command[] = [
    { type: 'lease.renew', ...fence },
    { type: 'lease.release', ...fence, why: 'shutdown' },
    { type: 'run.progress', ...fence, runId, percent: a, text: 'x' },
    { type: 'run.send_back', ...fence, runId, gates: ['test'] },
    { type: 'run.start', ...fence, runId: `run_${mill.runs.size + 1}`, mode: 'implement', agent: 'x' },
    { type: 'run.finish', ...fence, runId, ...failureOf(outcome, b), envelope: null, usage, tree },
    { type: 'stage.finish', ...fence, ...failureOf(outcome, b), message: 'told', tree },
    { type: 'stage.wait', ...fence, why: 'dirty', untilMs: 5_000 },
    { type: 'work.commit', ...fence, commit: `c-${tree}`, tree, notes: [] },
    { type: 'evidence.record', ...fence, receipts: [receipt(at(['test', 'integrity'], a), tree, at(STATUSES, b))] },
    { type: 'merge.prepare', ...fence, ...merge },
    { type: 'merge.abandon', ...fence, why: 'moved' },
    { type: 'merge.land', ...fence, commit: merge.commit },
  ];
  return at(all, a + b);
}

function failureOf(outcome: Outcome, b: number) {
  if (outcome !== 'failed') return { outcome };
  return { outcome, failure: at(['crash', 'no_result', 'validation', 'unverified_gate', 'network'] as const, b) };
}

/** What the engine would do next with the task it holds. */
function nextWrite(mill: Mill, task: Task, fence: FenceFields, a: number, b: number): Command {
  const stage = stageOf(mill.rules(), task);
  const tree = task.prepared?.tree ?? task.head?.tree ?? at(TREES, b);
  const receipts = mill.rules().gates.map((gate) => receipt(gate, tree, 'pass'));
  const isProven = receipts.every(({ gate }) =>
    [...mill.evidence.values()].some((e) => e.gate === gate && e.tree === tree),
  );
  const run = mill.runs.get(task.lastRunId ?? '');
  if (stage?.actor === 'agent' && run?.status !== 'running')
    return { type: 'run.start', ...fence, runId: `run_${mill.runs.size + 1}`, mode: modeOf(stage, task), agent: 'x' };
  const isBuilt = stage?.actor === 'agent' && stage.mode !== 'implement' ? true : task.head?.tree === tree && a % 4 > 0;
  if (!isBuilt && stage?.actor === 'agent')
    return { type: 'work.commit', ...fence, commit: `c-${at(TREES, b)}`, tree: at(TREES, b), notes: [] };
  if (!isProven) return { type: 'evidence.record', ...fence, receipts };
  if (stage?.actor === 'agent') {
    const [good, other] = Object.keys(stage.on) as [Outcome, Outcome?];
    const outcome = a % 8 > 2 ? good : at([other ?? good, 'needs_info', 'failed'] as const, a);
    const failure =
      outcome === 'failed' ? ({ failure: at(['crash', 'no_result', 'validation'] as const, b) } as const) : {};
    const criteria = task.criteria.map(({ id }) => ({
      id,
      met: outcome === 'approved',
      evidence: a % 7 === 0 ? '' : 'test',
    }));
    const envelope = { outcome, summary: 'done', plan: 'plan', review: { criteria, comments: ['c'] } };
    return { type: 'run.finish', ...fence, runId: task.lastRunId!, outcome, ...failure, envelope, usage, tree };
  }
  if (stage?.actor === 'system' && a % 8 === 0 && !task.prepared) {
    const feedback = [{ kind: 'conflict' as const, text: 'x', files: at([['a'], ['package.json']], b) }];
    return { type: 'stage.finish', ...fence, outcome: at(['failed', 'conflicts_detected'] as const, b), feedback };
  }
  if (stage?.actor === 'system' && stage.does === 'verify')
    return { type: 'stage.finish', ...fence, outcome: 'approved', tree };
  if (task.prepared) return { type: 'merge.land', ...fence, commit: task.prepared.commit };
  return { type: 'merge.prepare', ...fence, commit: `landing ${tree}`, tree, base: 'base' };
}
