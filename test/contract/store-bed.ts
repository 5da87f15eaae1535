import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pipeline, ProjectRules, Role, Task } from '@tidemill/contract';
import { AUTONOMY_PRESETS, LoopConfig, personActor } from '@tidemill/contract';
import type { Command, Reply } from '@tidemill/core';
import pg from 'pg';
import { createIds, systemClock } from '../../packages/daemon/src/clock.ts';
import type { Clock, Store } from '../../packages/daemon/src/ports.ts';
import { type OpenOptions, openStore } from '../../packages/daemon/src/store/open.ts';

export const PROJECT = 'project_1';

/** One stage between open and done: enough for leases, dependencies and stages to move. */
const tiny: Pipeline = {
  name: 'tiny',
  description: '',
  start: 'check',
  stages: { check: { actor: 'system', does: 'verify', on: { approved: 'done', failed: 'blocked' } } },
};
const agent: Pipeline = {
  name: 'agent',
  description: '',
  start: 'work',
  stages: { work: { actor: 'agent', mode: 'implement', on: { pr_ready: 'done' } } },
};
export const rules: ProjectRules = {
  target: 'main',
  defaultPipeline: 'tiny',
  gates: [],
  pipelines: { tiny, agent },
  reviewPlans: false,
  critical: [],
  hilConfig: AUTONOMY_PRESETS.full,
  budget: { dailyUsd: 50, monthlyUsd: 500, timeZone: 'UTC' },
  loop: LoopConfig.parse({}),
};

/** Where a store lives, so that it can be opened again or by another process. */
export interface Place {
  url: string;
  schema: string;
  keepsOverReopening: boolean;
  remove(): Promise<void>;
}

export async function memoryPlace(): Promise<Place> {
  return { url: 'memory:', schema: '', keepsOverReopening: false, remove: async () => undefined };
}

async function sqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemill-store-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  return { url: `sqlite:${join(folder, 'store.db')}`, schema: '', keepsOverReopening: true, remove };
}

/** Places that other processes can reach too. */
export function sharedPlaces(postgresUrl: string): Record<string, () => Promise<Place>> {
  if (!postgresUrl) console.warn('skipped: the store on Postgres, because no Postgres could be started');
  return { sqlite: sqlitePlace, ...(postgresUrl && { postgres: () => postgresPlace(postgresUrl) }) };
}

export async function postgresPlace(postgresUrl: string): Promise<Place> {
  const schema = `test_${randomUUID().replaceAll('-', '').slice(0, 16)}`;
  const remove = async () => {
    const client = new pg.Client(postgresUrl);
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.end();
  };
  return { url: postgresUrl, schema, keepsOverReopening: true, remove };
}

const ids = createIds(systemClock);

export async function open(
  place: Pick<Place, 'url' | 'schema'>,
  more: Partial<OpenOptions> & { clock?: Clock } = {},
): Promise<Mill> {
  const { url, schema } = place;
  const store = await openStore({ url, schema: schema || undefined, clock: systemClock, ids, ...more });
  return new Mill(store);
}

type NewTask = Partial<Extract<Command, { type: 'task.create' }>>;

/** A store with shorthands for the commands these tests need. */
export class Mill {
  readonly store: Store;
  constructor(store: Store) {
    this.store = store;
  }
  async register(workers = 0): Promise<this> {
    await this.must({ type: 'project.register', projectId: PROJECT, name: 'one', root: '/one', rules });
    await Promise.all(Array.from({ length: workers }, (_, index) => this.worker(`w${index + 1}`)));
    return this;
  }
  worker(name: string, role: Role = 'verifier'): Promise<Reply & { ok: true }> {
    return this.must({ type: 'worker.register', projectId: PROJECT, workerId: `${PROJECT}/${name}`, name, role });
  }
  async create(more: NewTask = {}): Promise<Task> {
    const reply = await this.must(newTask(more));
    return reply.task!;
  }
  claim(worker: string, window = 8, role: Role = 'verifier'): Promise<Reply> {
    const workerId = `${PROJECT}/${worker}`;
    return this.store.execute({
      type: 'work.claim',
      projectId: PROJECT,
      workerId,
      role,
      owner: 'o',
      window,
    });
  }
  async mustClaim(worker: string): Promise<Task> {
    return accepted(await this.claim(worker)).task!;
  }
  finish(task: Task): Promise<Reply & { ok: true }> {
    const { id: taskId, fence: token } = task;
    return this.must({ type: 'stage.finish', projectId: PROJECT, subjectId: taskId, token, outcome: 'approved' });
  }
  async must(command: Command): Promise<Reply & { ok: true }> {
    return accepted(await this.store.execute(command));
  }
}

export function newTask(more: NewTask = {}): Command {
  return {
    type: 'task.create',
    projectId: PROJECT,
    taskId: ids.next('task'),
    title: 'A task',
    body: '',
    kind: 'feature',
    accept: [],
    files: [],
    dependsOn: [],
    priority: 2,
    ...more,
  };
}

export function newTrace(id: string, key: string): Command {
  const about = { subjectId: null, runId: null, taskNumber: null, agent: null, files: [], correct: null, why: null };
  const trace = {
    ...about,
    id: `trace_${id}`,
    type: 'note',
    source: 'person',
    key,
    what: 'said',
    at: 1,
    seq: null,
  } as const;
  return { type: 'trace.store', projectId: PROJECT, trace: { ...trace, by: personActor('ada') } };
}

export function accepted(reply: Reply): Reply & { ok: true } {
  if (!reply.ok) throw new Error(`refused: ${reply.refusal.code}: ${reply.refusal.message}`);
  return reply;
}
