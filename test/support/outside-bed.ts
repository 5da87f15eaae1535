import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentEnvelope, Api, EventBody, LoggedEvent, OutsideClaim } from '@tidemill/contract';
import { QUIET_CONFIG, TemporaryRepository } from '../e2e/cli-repository.ts';
import { type RunningDaemon, TidemillHome } from './tidemill-home.ts';

export const READY = { outcome: 'pr_ready', summary: 'it is there' } as const satisfies Partial<AgentEnvelope>;

/** A daemon whose own builder is paused, so that workers outside of it get the tasks. */
export class OutsideBed {
  readonly machine = new TidemillHome({ USER: 'ada' });
  readonly repository = new TemporaryRepository({
    '.tidemill/config.yaml': QUIET_CONFIG.replace('["true"]', '["sleep", "600"]'),
  });
  daemon!: RunningDaemon;
  api!: Api;
  project!: string;

  async open(): Promise<void> {
    await this.start();
    await this.api.steerWorkers({ project: this.project, worker: 'agent-1', operation: 'pause' });
  }
  async start(): Promise<void> {
    this.daemon = await this.machine.up(this.repository.root);
    this.api = this.machine.api();
    this.project = (await this.api.projects({ root: this.repository.root }))[0]!.id;
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  claim = (worker = 'alpha') => this.api.claimWork({ project: this.project, worker });
  claimed = async (worker = 'alpha') => (await this.claim(worker))!;
  finish = (at: OutsideClaim, result: Partial<AgentEnvelope> & Pick<AgentEnvelope, 'outcome'>) =>
    this.api.finishClaim({
      project: this.project,
      task: at.number,
      fence: at.fence,
      result: { summary: '', ...result },
    });
  write = (at: OutsideClaim, name: string, text = `${name}\n`) => writeFileSync(join(at.worktree, name), text);
  viewOf = async (name: string) =>
    (await this.api.workers({ project: this.project })).find((each) => each.name === name);
  taskOf = (number: number) => this.api.task({ project: this.project, task: number });

  async events(...types: EventBody['type'][]): Promise<LoggedEvent[]> {
    const found: LoggedEvent[] = [];
    for await (const event of this.api.events({ project: this.project, types })) found.push(event);
    return found;
  }
}
