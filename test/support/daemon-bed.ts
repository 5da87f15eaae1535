import type { Receipt, Task } from '@tidemill/contract';
import type { Command, Reply } from '@tidemill/core';
import { openFolderStore } from '../../packages/daemon/src/assembly/store-address.ts';
import { openDataFolder } from '../../packages/daemon/src/config/data-folder.ts';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { ServedDaemon } from './served-daemon.ts';

const NO_USAGE = { inputTokens: 1, outputTokens: 1, costUsd: 0.25, requests: 1 };

/** A daemon without an engine, and its store: the test itself does what an engine would. */
export class DaemonBed extends ServedDaemon {
  store!: Store;

  static async open(files: Record<string, string> = {}): Promise<DaemonBed> {
    const bed = new DaemonBed(files);
    await bed.restart();
    const env = { TIDEMILL_HOME: bed.home };
    bed.store = (await openFolderStore(openDataFolder(env), env)).store;
    return bed;
  }
  override async close(): Promise<void> {
    await this.store.close();
    await super.close();
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
  fence({ id: taskId, fence: token }: Task): { projectId: string; subjectId: string; token: number } {
    return { projectId: this.project, subjectId: taskId, token };
  }
  /** A run that ends with this commit, and the gates' receipts for its tree. */
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
    const { gates, gateConfigs = {} } = (await this.store.project(this.project))!.rules;
    const all = gates.map((gate, index) => ({
      gate,
      command: 'true',
      tree,
      status: 'pass' as const,
      exitCode: 0,
      durationMs: 1,
      counts: null,
      logHash: '0'.repeat(64),
      level: 'standard',
      environment: '',
      attempt: 1,
      // A receipt made under other settings does not count.
      config: gateConfigs[gate] ?? '',
      ...receipts[index],
    }));
    await this.must({ type: 'evidence.record', ...this.fence(task), receipts: all });
  }
}
