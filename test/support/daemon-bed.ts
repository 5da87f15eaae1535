import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api, Receipt, Task } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import type { Command, Reply } from '@tidemill/core';
import { openDataFolder } from '../../packages/daemon/src/config/data-folder.ts';
import { openFolderStore } from '../../packages/daemon/src/daemon/store-address.ts';
import { Daemon } from '../../packages/daemon/src/daemon.ts';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { QUIET_CONFIG, TemporaryRepository } from '../e2e/cli-repository.ts';

const NO_USAGE = { inputTokens: 1, outputTokens: 1, costUsd: 0.25, requests: 1 };

/** A daemon reached over HTTP, with a project nobody works on: the test itself does what an engine would. */
export class DaemonBed {
  readonly home: string;
  readonly repository: TemporaryRepository;
  readonly api: Api;
  readonly store: Store;
  readonly project: string;
  readonly #daemon: Daemon;

  static async open(files: Record<string, string> = {}): Promise<DaemonBed> {
    const home = mkdtempSync(join(tmpdir(), 'tidemill-bed-'));
    const repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG, ...files });
    const env = { TIDEMILL_HOME: home };
    const daemon = await Daemon.start({ env, port: 0 });
    const { token } = JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as { token: string };
    const api = createClient({ url: daemon.info.url, token });
    const project = (await api.registerProject({ root: repository.root })).id;
    const { store } = await openFolderStore(openDataFolder(env), env);
    return new DaemonBed({ home, repository, api, store, project }, daemon);
  }
  private constructor(parts: Pick<DaemonBed, 'home' | 'repository' | 'api' | 'store' | 'project'>, daemon: Daemon) {
    ({ home: this.home, repository: this.repository, api: this.api, store: this.store, project: this.project } = parts);
    this.#daemon = daemon;
  }
  async close(): Promise<void> {
    await this.store.close();
    await this.#daemon.stop({ now: true });
    this.repository.remove();
    rmSync(this.home, { recursive: true, maxRetries: 5 });
  }

  async must(command: Command): Promise<Extract<Reply, { ok: true }>> {
    const reply = await this.store.execute(command);
    if (!reply.ok) throw new Error(`${command.type} was refused: ${reply.refusal.message}`);
    return reply;
  }
  /** The next task of this role, held by a worker of that name. */
  async claim(name: string, role: 'builder' | 'reviewer' | 'verifier' | 'merger'): Promise<Task> {
    const of = { projectId: this.project, workerId: `${this.project}/${name}` };
    await this.must({ type: 'worker.register', ...of, name, role });
    return (await this.must({ type: 'work.claim', ...of, role, owner: 'test', window: 50 })).task!;
  }
  fence({ id: taskId, fence: token }: Task): { projectId: string; taskId: string; token: number } {
    return { projectId: this.project, taskId, token };
  }
  /** A run that ends with this commit on record, and the gates' receipts for its tree. */
  async build(task: Task, commit: string, receipts: Partial<Receipt>[] = [{}]): Promise<string> {
    const fence = this.fence(task);
    const tree = this.repository.git('rev-parse', `${commit}^{tree}`);
    const runId = `run_${task.number}_${task.fence}`;
    await this.must({ type: 'run.start', ...fence, runId, mode: 'implement', agent: 'test' });
    await this.must({ type: 'work.commit', ...fence, commit, tree, notes: [] });
    await this.prove(task, tree, receipts);
    const envelope = { outcome: 'pr_ready', summary: 'built' } as const;
    const end = { runId, outcome: 'pr_ready', envelope, usage: NO_USAGE, tree } as const;
    await this.must({ type: 'run.finish', ...fence, ...end });
    return tree;
  }
  async prove(task: Task, tree: string, receipts: Partial<Receipt>[] = [{}]): Promise<void> {
    const { gates } = (await this.store.project(this.project))!.rules;
    const all = gates.map((gate, index) => ({
      ...{ gate, command: 'true', tree, status: 'pass' as const, exitCode: 0, durationMs: 1 },
      ...{ counts: null, logHash: '0'.repeat(64), ...receipts[index] },
    }));
    await this.must({ type: 'evidence.record', ...this.fence(task), receipts: all });
  }
}
