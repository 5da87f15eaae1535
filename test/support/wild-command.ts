import { type Outcome, personActor, type Task } from '@tidemill/contract';
import { type Command, type CommandType, modeOf, stageOf } from '@tidemill/core';
import fc from 'fast-check';
import { GENERATORS, roleOf, TREES } from './command-generators.ts';
import { at, type Draw, projectId } from './draw.ts';
import { type Mill, receipt } from './mill.ts';

/** Random numbers for one step; their meaning depends on the world. */
export type Dice = { kind: number; type: number; task: number; worker: number; a: number; b: number; late: boolean };
const nat = (max: number) => fc.nat({ max });
export const dice: fc.Arbitrary<Dice> = fc.record({
  kind: nat(99),
  type: nat(999),
  task: nat(99),
  worker: nat(99),
  a: nat(99),
  b: nat(99),
  late: nat(9).map((value) => value === 0),
});

const NAMES = ['agent-1', 'agent-2', 'reviewer', 'verifier', 'merger'];
const TYPES = Object.keys(GENERATORS) as CommandType[];
const usage = { inputTokens: 1, outputTokens: 1, costUsd: null, requests: 0 };

/** A possible next command: half are random commands, half are what the engine would do next. */
export function commandOf(mill: Mill, { kind, type, task, worker, a, b, late }: Dice): Command | null {
  const ids = [...mill.tasks.keys()];
  const workerId = at(busyOrNeeded(mill), worker);
  const leased = [...mill.tasks.values()].find(({ lease }) => lease?.workerId === workerId);
  const any = mill.tasks.get(at(ids.length > 0 ? ids : [''], task));
  if (!any || ids.length < 2) return generated('task.create', { mill, a, b } as Draw);
  const subject = leased ?? any;
  const fence = { projectId, subjectId: subject.id, token: subject.fence - (late ? 1 : 0) };
  const draw: Draw = { mill, task: any, leased: subject, fence, workerId, a, b };
  if (kind < 2) return null;
  if (kind < 40) return generated(at(TYPES, type), draw);
  if (kind < 43) return aboutJob(draw);
  if (any.blocked?.reason === 'conflict' && b % 2 === 0)
    return generated(
      at(['conflict.resolve_file', 'conflict.begin_settle', 'conflict.settle', 'conflict.abort'] as const, a),
      draw,
    );
  if (kind < 50) return unstick(draw);
  if (!leased && mill.ready(projectId, roleOf(workerId)).length === 0) return unstick(draw);
  if (!leased) return claim(draw);
  return nextWrite(mill, leased, fence, a, b);
}

const generated = (type: CommandType, draw: Draw): Command => ({ ...GENERATORS[type](draw), type }) as Command;

/** What a worker would do next with a job, if there is one. */
function aboutJob(draw: Draw): Command {
  const { mill, a } = draw;
  const job = [...mill.records.values()].find((record) => record.noun === 'job' && record.status === 'open');
  if (job?.noun !== 'job') return generated('job.request', { ...draw, b: 1 });
  if (!job.lease) return generated('job.claim', { ...draw, workerId: 'agent-1' });
  const fence = { projectId, subjectId: job.subjectId, jobId: job.id, token: job.fence };
  const run = mill.runs.get(job.lastRunId ?? '');
  if (run?.status !== 'running')
    return { type: 'run.start', ...fence, runId: `run_${mill.runs.size + 1}`, mode: job.mode, agent: 'x' };
  const types = ['run.spend', 'run.progress', 'guard.deny', 'lease.renew', 'lease.release', 'lease.expire'] as const;
  if (a % 3) return { ...generated(at(types, a), draw), ...fence, runId: run.id } as Command;
  const outcome = at(['pr_ready', 'failed', 'needs_info'] as const, a);
  const failure = outcome === 'failed' ? ({ failure: 'crash' } as const) : {};
  return { type: 'run.finish', ...fence, runId: run.id, outcome, ...failure, envelope: null, usage };
}

/** Workers that hold a task or could get one; otherwise most steps would concern idle workers. */
function busyOrNeeded(mill: Mill): string[] {
  const holders = new Set([...mill.tasks.values()].map(({ lease }) => lease?.workerId));
  const names = NAMES.filter((name) => holders.has(name) || mill.ready(projectId, roleOf(name)).length > 0);
  return names.length > 0 ? names : NAMES;
}

/** When all workers are idle, a person adds or restarts work. */
function unstick(draw: Draw): Command {
  const { mill, a, b } = draw;
  const stuck = [...mill.tasks.values()].filter(({ stage, role }) => role === null && stage !== 'done');
  if (stuck.length === 0) return generated('task.create', { ...draw, a: a - (a % 3) + 1 });
  const { id: taskId, stage } = at(stuck, b);
  if (stage === 'plan_review' || a % 3 === 0)
    return { type: 'task.approve', projectId, taskId, by: personActor('ada') };
  return { type: 'task.retry', projectId, taskId, by: personActor('ada'), note: 'go on' };
}

function claim(draw: Draw): Command {
  const { mill, workerId } = draw;
  const worker = mill.workers.get(workerId);
  if (!worker) return generated('worker.register', { ...draw, a: 1 });
  if (worker.desired !== 'running')
    return { type: 'worker.steer', projectId, workerId, desired: 'running', by: personActor('ada') };
  return generated('work.claim', draw);
}

type FenceFields = Draw['fence'];

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
    const criteria = (task.criteria.length > 0 || a % 5 === 0 ? task.criteria : [{ id: 'x' }]).map(({ id }) => ({
      id,
      text: 'derived',
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
