import type { Evidence, Receipt, RecordNoun, Task } from '@tidemill/contract';
import { type Command, type DecideEnv, type Decision, decide, type Slice } from '@tidemill/core';
import type { Forge, Store, Workspace } from '../../packages/daemon/src/ports.ts';

/**
 * Typical mistakes, one at a time, wrapped around the real code: the simulator must find each.
 * `decide` replaces core's; `store` changes what the engine reads.
 */
export interface PlantedBug {
  decide?: typeof decide;
  store?: (store: Store, projectId: string) => Partial<Store>;
  /** Replaces methods of the repository. */
  workspace?: Partial<Workspace>;
  /** Replaces methods of the forge, as the engine sees it. */
  forge?: (forge: Forge) => Partial<Forge>;
}

export const plantedBugs: Record<string, PlantedBug> = {
  'fence check removed': {
    decide: (slice, command, env) => decide(slice, withNewestToken(slice, command), env),
  },
  'lease not expired': {
    decide: (slice, command, env) =>
      command.type === 'lease.expire'
        ? { ok: false, refusal: { code: 'conflict', message: 'planted', hint: '' } }
        : decide(slice, command, env),
  },
  'evidence not bound to the tree': {
    decide: (slice, command, env) =>
      command.type === 'merge.prepare' ? unguarded(slice, command, env) : decide(slice, command, env),
    // Any tree of the task counts as proven once one of them is.
    store: (store, projectId) => ({
      evidenceForTree: async (_project, tree) =>
        (await store.evidence({ projectId, limit: 100_000 })).filter((link) => sameWork(link, tree)),
    }),
  },
  'merge before gates': {
    decide: (slice, command, env) =>
      command.type === 'merge.prepare' ? unguarded(slice, command, env) : decide(slice, command, env),
    store: (store) => ({
      evidenceForTree: async (projectId, tree) => {
        const links = await store.evidenceForTree(projectId, tree);
        return links.length > 0 ? links : [assumed('integrity', tree), assumed('test', tree)];
      },
    }),
  },
  'a batch lands with a red member': {
    decide: (slice, command, env) =>
      command.type === 'merge.prepare' && command.batch ? unguarded(slice, command, env) : decide(slice, command, env),
    // What failed on several tasks together is believed, because each of them passed alone.
    store: (store) => ({
      evidenceForTree: async (projectId, tree) => {
        const links = await store.evidenceForTree(projectId, tree);
        const isBatch = (tree.match(/file-\d+=/g) ?? []).length > 1;
        return isBatch ? links.map((link) => ({ ...link, status: 'pass' as const })) : links;
      },
    }),
  },
  'a flake counted as green': {
    decide: (slice, command, env) =>
      command.type === 'evidence.record'
        ? decide(slice, { ...command, receipts: command.receipts.map(believed) }, env)
        : decide(slice, command, env),
  },
  'one answer is enough': {
    decide: (slice, command, env) => {
      const decision = decide(slice, command, env);
      const task = command.type === 'question.answer' && command.taskId ? slice.tasks.get(command.taskId) : undefined;
      if (!decision.ok || task?.stage !== 'needs_info' || task.openQuestions.length < 2) return decision;
      const to = task.resumeStage ?? 'open';
      const moved = { type: 'task.moved', taskId: task.id, from: 'needs_info', to, because: 'answered' } as const;
      return { ok: true, events: [...decision.events, moved] };
    },
  },
  'the budget is not enforced': {
    decide: (slice, command, env) => {
      const isPaid = command.type === 'run.start' || command.type === 'work.claim' || command.type === 'run.spend';
      return isPaid ? decide(unlimited(slice, command.projectId), command, env) : decide(slice, command, env);
    },
  },
  'the target’s lines are dropped': { workspace: { mergeLosses: async () => [] } },
  'alerts are repeated without a pause': {
    decide: (slice, command, env) => {
      const decision = decide(slice, command, env);
      if (command.type !== 'alert.raise' || !decision.ok) return decision;
      const { taskId, kind, text, severity = 'warning', subject = '' } = command;
      return { ok: true, events: [{ type: 'alert.raised', taskId, kind, text, severity, subject, count: 1 }] };
    },
  },
};

/** The same store with unlimited budgets. */
function unlimited(slice: Slice, projectId: string): Slice {
  const project = slice.projects.get(projectId)!;
  const rich = { ...project, rules: { ...project.rules, budget: { ...project.rules.budget, ...PLENTY } } };
  const projects = { get: (id: string) => (id === projectId ? rich : slice.projects.get(id)) };
  const record = (noun: RecordNoun, id: string) => {
    const found = slice.record(noun, id);
    return found?.noun === 'account' && found.limits ? { ...found, limits: { ...found.limits, ...PLENTY } } : found;
  };
  return new Proxy(slice, {
    get(target, key) {
      if (key === 'projects') return projects;
      if (key === 'record') return record;
      const member = Reflect.get(target, key, target) as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
const PLENTY = { dailyUsd: 1e6, monthlyUsd: 1e6 };

function withNewestToken(slice: Slice, command: Command): Command {
  // The project itself can be held, too; it is no task.
  if (!('token' in command) || command.subjectId === command.projectId) return command;
  const newest: Task | undefined = slice.tasks.get(command.subjectId);
  return newest?.lease ? ({ ...command, token: newest.lease.token } as Command) : command;
}

function unguarded(slice: Slice, command: Extract<Command, { type: 'merge.prepare' }>, env: DecideEnv): Decision {
  const project = slice.projects.get(command.projectId)!;
  const trusting = { ...project, rules: { ...project.rules, gates: [] } };
  const view = Object.create(slice, { projects: { value: { get: () => trusting } } }) as Slice;
  Object.assign(view, { list: slice.list.bind(slice) });
  return decide(view, command, env);
}

/** A gate that failed is taken for flaky, and green. */
const believed = (receipt: Receipt): Receipt =>
  receipt.gate === 'test' && receipt.status === 'fail' ? { ...receipt, status: 'pass', exitCode: 0 } : receipt;

const ownFile = (tree: string) => /file-(\d+)=/g.exec(tree)?.[1];
const sameWork = (link: Evidence, tree: string) => ownFile(link.tree) === ownFile(tree);

function assumed(gate: string, tree: string): Evidence {
  const blank = { id: 'assumed', projectId: '', taskId: '', command: gate, exitCode: 0, durationMs: 0, counts: null };
  const receipt = { gate, tree, status: 'pass' as const, level: '', environment: '', config: '', attempt: 1 };
  return { ...blank, ...receipt, position: 1, at: 0, logHash: '', prev: '', hash: 'assumed' };
}
