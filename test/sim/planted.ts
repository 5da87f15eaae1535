import type { Evidence, Task } from '@tidemill/contract';
import { type Command, type DecideEnv, type Decision, decide, type Slice } from '@tidemill/core';
import type { Store } from '../../packages/daemon/src/ports.ts';

/**
 * One mistake at a time, as somebody might make it, wrapped around the real code: the simulator must find each.
 * `decide` replaces core's; `store` alters what the engine reads.
 */
export interface PlantedBug {
  decide?: typeof decide;
  store?: (store: Store, projectId: string) => Partial<Store>;
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
};

function withNewestToken(slice: Slice, command: Command): Command {
  if (!('token' in command)) return command;
  const newest: Task | undefined = slice.tasks.get(command.taskId);
  return newest?.lease ? ({ ...command, token: newest.lease.token } as Command) : command;
}

function unguarded(slice: Slice, command: Extract<Command, { type: 'merge.prepare' }>, env: DecideEnv): Decision {
  const project = slice.projects.get(command.projectId)!;
  const trusting = { ...project, rules: { ...project.rules, gates: [] } };
  const view = Object.create(slice, { projects: { value: { get: () => trusting } } }) as Slice;
  const read = (method: 'evidenceFor' | 'dependents') => slice[method].bind(slice) as never;
  Object.assign(view, { evidenceFor: read('evidenceFor'), dependents: read('dependents') });
  return decide(view, command, env);
}

const ownFile = (tree: string) => /file-(\d+)=/g.exec(tree)?.[1];
const sameWork = (link: Evidence, tree: string) => ownFile(link.tree) === ownFile(tree);

function assumed(gate: string, tree: string): Evidence {
  const blank = { id: 'assumed', projectId: '', taskId: '', command: gate, exitCode: 0, durationMs: 0, counts: null };
  return { ...blank, gate, tree, status: 'pass', position: 1, at: 0, logHash: '', prev: '', hash: 'assumed' };
}
