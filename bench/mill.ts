import { hash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Config, type Project, personActor } from '@tidemill/contract';
import { builtinPipelines } from '@tidemill/core';
import { createRunLog } from '../packages/daemon/src/agents/run-log.ts';
import { landingOf } from '../packages/daemon/src/assembly/repositories.ts';
import { assetDir } from '../packages/daemon/src/assets.ts';
import { createIds, systemClock } from '../packages/daemon/src/clock.ts';
import { rulesFrom } from '../packages/daemon/src/config/load.ts';
import { Engine } from '../packages/daemon/src/engine/engine.ts';
import { ReactorHost } from '../packages/daemon/src/engine/reactors/host.ts';
import { createGates } from '../packages/daemon/src/gates/gates.ts';
import type { Agent, Store, Workspace, WorktreeRef } from '../packages/daemon/src/ports.ts';
import { createPrompts } from '../packages/daemon/src/prompts/prompts.ts';
import { openStore } from '../packages/daemon/src/store/open.ts';
import { openWorkspace } from '../packages/daemon/src/workspace/workspace.ts';
import { Meter } from './meter.ts';
import { changeOf, git, makeRepository } from './repository.ts';

const PROJECT = 'project_bench';

/** An engine at work on a repository of its own, wired as the daemon wires it. Only the agent is the bench's. */
export interface Mill {
  meter: Meter;
  root: string;
  /** Called when an agent is started; at the time of the call nothing of its work is done. */
  onAgentStart: (taskNumber: number) => void;
  add(): Promise<number>;
  /** Makes a task and waits for its end: landed, worktree removed. */
  complete(): Promise<void>;
  landed(): Promise<number>;
  /** Lets the merger land, or keeps it waiting. */
  merge(desired: 'running' | 'paused'): Promise<void>;
  /** Resolves when so many tasks are in the stage. */
  until(stage: string, count: number): Promise<void>;
  close(): Promise<void>;
}

/** What a section changes. */
export interface MillOptions {
  batch?: number;
  /** The command of a gate. */
  gate?: string;
  /** A bare repository that becomes the remote of the target. */
  remote?: string;
}

export async function startMill(
  folder: string,
  workers: number,
  { batch = 5, gate, remote }: MillOptions = {},
): Promise<Mill> {
  const root = join(folder, 'repository');
  const dataDir = join(folder, 'data');
  await makeRepository(root);
  await mkdir(dataDir, { recursive: true });
  if (remote) await share(root, remote);
  const [clock, ids, meter] = [systemClock, createIds(systemClock), new Meter()];
  const opened = await openStore({ url: join(dataDir, 'store.db'), clock, ids });
  const store = meter.on('store', opened);
  const settings = config(gate, remote ? 'target' : 'never');
  const { target, sandbox, gates } = settings;
  const { landing, push } = landingOf(settings);
  const project = await register(opened, root, settings);
  const removals = new Removals();
  const space = await openWorkspace({ root, target, landing, push, dataDir: join(dataDir, 'project'), clock });
  const mill: Mill = {
    meter,
    root,
    onAgentStart: () => undefined,
    add: () => add(opened, ids.next('task')),
    complete: async () => removals.of(await mill.add()),
    landed: async () => (await opened.tasks({ projectId: PROJECT, stages: ['done'], limit: 100_000 })).length,
    async merge(desired) {
      const merger = (await opened.workers(PROJECT)).find(({ role }) => role === 'merger')!;
      const steer = { type: 'worker.steer', projectId: PROJECT, workerId: merger.id, desired } as const;
      await opened.execute({ ...steer, by: personActor('bench') });
    },
    async until(stage, count) {
      const isSo = async () =>
        (await opened.tasks({ projectId: PROJECT, stages: [stage], limit: 1000 })).length >= count;
      while (!(await isSo())) await delay(20);
    },
    async close() {
      // The child that empties the trash keeps nobody waiting by itself; the temporary folder must outlive it.
      const hold = setInterval(() => undefined, 1000);
      await engine.stop({ graceMs: 5000 });
      await space.close();
      await opened.close();
      clearInterval(hold);
    },
  };
  const agent = timelessAgent((number) => mill.onAgentStart(number));
  const host = { root, dataDir, homeId: 'bench', sandbox };
  const engine = new Engine({
    project,
    store,
    workspace: meter.on('workspace', removals.watching(space)),
    agentFor: () => agent,
    gates: meter.on(
      'gates',
      createGates({ config: gates, hashes: project.rules.gateConfigs, host, logDir: join(dataDir, 'gates') }),
    ),
    guards: { check: async () => ({ kind: 'allow' }) },
    prompts: meter.on('prompts', createPrompts({ root, builtinDir: assetDir('prompts/agents') })),
    openRunLog: createRunLog({ dir: join(dataDir, 'runs'), clock }),
    reactors: new ReactorHost({ store: opened, clock, onNote: (text) => console.error(`  note: ${text}`) }),
    clock,
    ids,
    host: '',
    owner: 'bench',
    hash: (text) => hash('sha256', text),
    isOwnerDead: () => false,
    workers,
    batch,
    push,
    onNote: (text, error) => console.error(`  note: ${text}`, error ?? ''),
  });
  await engine.start();
  return mill;
}

/** `quick`, and by default no gates but the built-in integrity. */
const config = (gate: string | undefined, push: 'never' | 'target') =>
  Config.parse({
    pipeline: 'quick',
    push,
    agents: { default: { type: 'command', command: ['none'] } },
    gates: gate ? [{ name: 'test', run: gate }] : [],
  });

async function share(root: string, remote: string): Promise<void> {
  await git(root, 'init', '-q', '--bare', '-b', 'main', remote);
  await git(root, 'remote', 'add', 'origin', remote);
  await git(root, 'push', '-q', 'origin', 'main');
}

async function register(store: Store, root: string, settings: Config): Promise<Project> {
  const rules = rulesFrom(settings, builtinPipelines);
  await store.execute({ type: 'project.register', projectId: PROJECT, name: 'bench', root, rules });
  return (await store.project(PROJECT))!;
}

/** The last thing the engine does for a task is to remove its worktree. */
class Removals {
  readonly #waiting = new Map<number, () => void>();
  readonly #removed = new Set<number>();

  watching(workspace: Workspace): Workspace {
    const remove = async (ref: WorktreeRef) => {
      await workspace.remove(ref);
      this.#removed.add(ref.number);
      this.#waiting.get(ref.number)?.();
    };
    return { ...workspace, remove };
  }
  of(number: number): Promise<void> {
    if (this.#removed.has(number)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(number, resolve));
  }
}

async function add(store: Store, taskId: string): Promise<number> {
  const reply = await store.execute({
    type: 'task.create',
    projectId: PROJECT,
    taskId,
    title: 'One file more',
    body: '',
    kind: 'chore',
    accept: [],
    files: [],
    dependsOn: [],
    priority: 2,
  });
  if (!reply.ok) throw new Error(reply.refusal.message);
  return reply.task!.number;
}

/** Writes its one file and is ready: no process, no thinking, so that what is measured is all Tidemill's. */
function timelessAgent(onStart: (taskNumber: number) => void): Agent {
  return {
    label: 'bench',
    isFree: true,
    start({ cwd, brief }) {
      onStart(brief.task!.number);
      const envelope = { outcome: 'pr_ready' as const, summary: 'One file more.' };
      const { number } = brief.task!;
      const isRework = brief.feedback.length > 0;
      const end = changeOf(cwd, isRework ? `${number}b` : number).then(() => ({ kind: 'result' as const, envelope }));
      return { end, stop: async () => void (await end) };
    },
  };
}
