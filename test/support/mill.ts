import {
  AgentEnvelope,
  AUTONOMY_PRESETS,
  type EventBody,
  type FailureClass,
  type Feedback,
  type GateStatus,
  LoopConfig,
  type Outcome,
  type ProjectRules,
  personActor,
  type Receipt,
  type Role,
  type Task,
} from '@tidemill/contract';
import { builtinPipelines, type CommandOf, modeOf, stageOf } from '@tidemill/core';
import { CommandWorld } from './command-world.ts';

const PROJECT = 'project_1';
const projectId = PROJECT;
const NO_USAGE = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };

export const defaultRules: ProjectRules = {
  target: 'main',
  defaultPipeline: 'feature',
  gates: ['integrity', 'test'],
  pipelines: builtinPipelines,
  reviewPlans: false,
  critical: ['package.json', 'migrations/'],
  hilConfig: AUTONOMY_PRESETS.full,
  budget: { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' },
  loop: LoopConfig.parse({}),
};

type NewTaskFields = Partial<Omit<CommandOf<'task.create'>, 'type' | 'projectId' | 'taskId'>>;

/** How a stage ends in a test; the envelope is made from the outcome unless given. */
export interface Ending {
  failure?: FailureClass;
  message?: string;
  feedback?: Feedback[];
  tree?: string;
  retryAt?: number;
  conflict?: CommandOf<'stage.finish'>['conflict'];
  shownFiles?: string[];
  envelope?: (Partial<Omit<AgentEnvelope, 'open_questions'>> & { open_questions?: unknown[] }) | null;
}

/** A world with one project, its workers, and a person's view of what happens in it. */
export class Mill extends CommandWorld {
  readonly projectId = PROJECT;
  #made = 0;

  constructor(rules: Partial<ProjectRules> = {}) {
    super();
    this.must({
      type: 'project.register',
      projectId,
      name: 'demo',
      root: '/demo',
      rules: { ...defaultRules, ...rules },
    });
    const workers: [string, Role][] = [
      ['agent-1', 'builder'],
      ['agent-2', 'builder'],
      ['reviewer', 'reviewer'],
      ['verifier', 'verifier'],
      ['merger', 'merger'],
    ];
    for (const [workerId, role] of workers)
      this.must({ type: 'worker.register', projectId, workerId, name: workerId, role });
  }

  /** A task, by default with one criterion. Returns its id. */
  add(fields: NewTaskFields = {}): string {
    this.#made += 1;
    const taskId = `task_${this.#made}`;
    const blank = { title: `Task ${this.#made}`, body: '', kind: 'feature', accept: ['it works'] } as const;
    const command = { ...blank, files: [], dependsOn: [], priority: 2, accept: [...blank.accept], ...fields };
    this.must({ type: 'task.create', projectId, taskId, ...command });
    return taskId;
  }
  task(id: string): Task {
    return this.tasks.get(id)!;
  }
  rules(): ProjectRules {
    return this.projects.get(PROJECT)!.rules;
  }

  claim(workerId = 'agent-1', window = 50): EventBody[] {
    const { role } = this.workers.get(workerId)!;
    return this.must({ type: 'work.claim', projectId, workerId, role, owner: 'daemon-1', window });
  }
  /** The number of the task the worker would get, or why it gets none. Nothing is claimed. */
  offered(workerId: string, window = 50): number | string {
    const { role } = this.workers.get(workerId)!;
    const decision = this.decideOnly({ type: 'work.claim', projectId, workerId, role, owner: 'daemon-1', window });
    if (!decision.ok) return decision.refusal.code;
    const claimed = decision.events.find((event) => event.type === 'lease.claimed');
    return claimed ? this.task(claimed.subjectId).number : 'none';
  }
  /** Claims this task with the first worker of its role. Returns the fence of its commands. */
  take(id: string): { projectId: string; subjectId: string; token: number } {
    const { role } = this.task(id);
    const worker = [...this.workers.values()].find((each) => each.role === role);
    if (!worker) throw new Error(`nobody works in ${this.task(id).stage}`);
    this.claim(worker.id);
    const { lease } = this.task(id);
    if (!lease) throw new Error('another task was claimed');
    return { projectId, subjectId: id, token: lease.token };
  }
  startRun(id: string): { fence: ReturnType<Mill['take']>; runId: string } {
    const fence = this.take(id);
    const stage = stageOf(this.rules(), this.task(id));
    if (stage?.actor !== 'agent') throw new Error(`no agent works in ${this.task(id).stage}`);
    const runId = `run_${this.runs.size + 1}`;
    this.must({ type: 'run.start', ...fence, runId, mode: modeOf(stage, this.task(id)), agent: 'scripted' });
    return { fence, runId };
  }

  /** Ends the task's stage with this outcome, for any actor. */
  end(id: string, outcome: Outcome, { envelope, ...more }: Ending = {}): EventBody[] {
    if (this.task(id).role === 'verifier' || this.task(id).role === 'merger')
      return this.must({ type: 'stage.finish', ...this.take(id), outcome, ...more });
    const { fence, runId } = this.startRun(id);
    const full = envelope === null ? null : AgentEnvelope.parse({ outcome, summary: `said ${outcome}`, ...envelope });
    return this.must({ type: 'run.finish', ...fence, runId, outcome, envelope: full, usage: NO_USAGE, ...more });
  }
  /** An implement run that leaves this tree, with these gate results on record. */
  build(id: string, tree: string, status: GateStatus = 'pass'): EventBody[] {
    const { fence, runId } = this.startRun(id);
    this.must({ type: 'work.commit', ...fence, commit: `commit of ${tree}`, tree, notes: [] });
    this.prove(fence, tree, status);
    const envelope = { outcome: 'pr_ready', summary: `built ${tree}` } as const;
    return this.must({
      type: 'run.finish',
      ...fence,
      runId,
      outcome: 'pr_ready',
      envelope,
      usage: NO_USAGE,
      tree,
    });
  }
  prove(fence: ReturnType<Mill['take']>, tree: string, status: GateStatus = 'pass'): void {
    const receipts = this.rules().gates.map((gate) => receipt(gate, tree, status));
    this.must({ type: 'evidence.record', ...fence, receipts });
  }
  review(id: string, met: boolean, comments: string[] = []): EventBody[] {
    const given = this.task(id).criteria;
    const criteria = (given.length > 0 ? given : [{ id: 'x', text: 'derived' }]).map((criterion) => ({
      id: criterion.id,
      text: criterion.text,
      met,
      evidence: met ? 'test passes' : '',
    }));
    const envelope = { summary: met ? 'fine' : 'not yet', review: { criteria, comments } };
    return this.end(id, met ? 'approved' : 'changes_requested', { envelope });
  }
  prepare(id: string, tree: string): { fence: ReturnType<Mill['take']>; commit: string } {
    const fence = this.take(id);
    const commit = `landing ${tree}`;
    this.prove(fence, tree);
    this.must({ type: 'merge.prepare', ...fence, commit, tree, base: 'base' });
    return { fence, commit };
  }
  land(id: string, tree = `${id}-merged`): EventBody[] {
    const { fence, commit } = this.prepare(id, tree);
    return this.must({ type: 'merge.land', ...fence, commit });
  }

  /** Follows the happy path until the task is in this stage; an open task counts as in its first. */
  bring(id: string, to: string): Task {
    for (let steps = 0; this.task(id).stage !== to; steps += 1) {
      const { stage, pipeline } = this.task(id);
      const next = stage === 'open' ? this.rules().pipelines[pipeline]!.start : stage;
      if (next === to) break;
      if (steps > 20) throw new Error(`${stage} does not lead to ${to}`);
      if (next === 'plan') this.end(id, 'plan_complete', { envelope: { plan: 'the plan' } });
      else if (next === 'plan_review')
        this.must({ type: 'task.approve', projectId, taskId: id, by: personActor('ada') });
      else if (next === 'investigate') this.end(id, 'investigation_complete');
      else if (next === 'implement') this.build(id, `${id}-tree-${steps}`, to === 'verify' ? 'fail' : 'pass');
      else if (next === 'verify') this.verify(id);
      else if (next === 'review') this.review(id, true);
      else if (next === 'merge') this.land(id);
      else throw new Error(`${stage} does not lead to ${to}`);
    }
    return this.task(id);
  }
  verify(id: string): EventBody[] {
    const fence = this.take(id);
    const { tree } = this.task(id).head!;
    this.prove(fence, tree);
    return this.must({ type: 'stage.finish', ...fence, outcome: 'approved', tree });
  }
}

export function receipt(gate: string, tree: string, status: GateStatus): Receipt {
  const exitCode = status === 'pass' ? 0 : status === 'fail' ? 1 : null;
  const about = { gate, command: `run ${gate}`, tree, status, exitCode, durationMs: 5 };
  return { ...about, counts: null, logHash: 'log', level: '', environment: '', config: '', attempt: 1 };
}

export const typesOf = (events: EventBody[]): string[] => events.map((event) => event.type);
