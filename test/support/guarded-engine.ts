import { hash } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { GuardProposal } from '@tidemill/contract';
import { expect } from 'vitest';
import { guardToolsOf } from '../../packages/daemon/src/assembly/guard-tools.ts';
import type { GuardTools } from '../../packages/daemon/src/engine/learning/guard-flow.ts';
import { createGuards } from '../../packages/daemon/src/guards/guards.ts';
import type { Agent, GuardVerdict, ToolCall } from '../../packages/daemon/src/ports.ts';
import { EngineBed } from './engine-bed.ts';

/** The real engine with real guards and their files in a folder, and agents that make the calls they are given. */
export class GuardedEngine {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-guarded-')));
  readonly dataDir = join(this.folder, 'data');
  bed!: EngineBed;
  tools!: GuardTools;
  /** What the guards said to the agents, in order. */
  readonly heard: GuardVerdict[] = [];
  /** What the next agents call. */
  calls: ToolCall[] = [];

  static async open(): Promise<GuardedEngine> {
    const made = new GuardedEngine();
    await made.#start();
    return made;
  }

  async #start(): Promise<void> {
    const root = this.folder;
    const { dataDir } = this;
    this.bed = await EngineBed.open({}, () => ({
      agentFor: () => this.#agent(),
      guards: {
        // Read again for each call, as the daemon does when a file changes. The simulated worktrees are no folders.
        check: async (call, about) =>
          (await createGuards({ root, dataDir })).check(call, { ...about, worktree: root, cwd: root }),
      },
      learnedGuards: this.tools.guards,
      calls: this.tools.calls,
      ownSessions: this.tools.sessions,
      knowledge: { gotchas: async () => [], all: async () => [], instructions: async () => [] },
    }));
    const { store, clock, projectId, notes } = this.bed;
    const project = { ...(await store.project(projectId))!, root };
    this.tools = {
      ...{ store, clock, project, hash: (text: string) => hash('sha256', text) },
      ...guardToolsOf(project, dataDir, (text) => void notes.push(text)),
    };
    await this.bed.start();
  }

  /** Makes its calls and changes a file. */
  #agent(): Agent {
    return {
      label: 'caller',
      start: ({ cwd, guard, brief }) => {
        const work = async () => {
          for (const call of this.calls) this.heard.push(await guard(call));
          this.bed.repository.work(cwd)?.set(`file-${brief.task!.number}`, 'fine');
          return { kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } } as const;
        };
        return { end: work(), stop: async () => undefined };
      },
    };
  }

  /** Runs a task to its end, and returns the last verdict. The guards and the files are real, and take real time. */
  async run(number: number, ...calls: ToolCall[]): Promise<GuardVerdict> {
    if (calls.length > 0) this.calls = calls;
    await this.bed.add(number);
    await this.eventually(async () => expect((await this.bed.store.task(`task_${number}`))?.stage).toBe('done'));
    return this.heard.at(-1)!;
  }

  async eventually(check: () => Promise<unknown> | unknown): Promise<void> {
    const limit = performance.now() + 20_000;
    for (;;) {
      await this.bed.pass(5_000);
      try {
        await check();
        return;
      } catch (error) {
        if (performance.now() > limit) throw error;
        // Not by `expect.poll`, which waits longer and longer.
        await delay(10);
      }
    }
  }

  proposals(): Promise<GuardProposal[]> {
    return this.bed.store.records({ noun: 'guard_proposal', projectId: this.bed.projectId });
  }

  async close(): Promise<void> {
    await this.bed.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
