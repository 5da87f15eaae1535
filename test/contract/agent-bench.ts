import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AgentConfig, AskedQuestion } from '@tidemill/contract';
import { createAgentFor } from '../../packages/daemon/src/agents/agent-for.ts';
import type { AgentBrief, AgentEnd, AgentSession } from '../../packages/daemon/src/ports.ts';
import type { ChildHost } from '../../packages/daemon/src/process/child.ts';
import { leakedProcesses } from '../../packages/daemon/src/process/leaks.ts';

/** One behaviour, said in both languages: as a shell program for `command`, as steps for `scripted`. */
export interface Behaviour {
  shell: string;
  steps: unknown[];
}

interface Change {
  timeoutMs?: number;
  brief?: Partial<AgentBrief>;
  cwd?: string;
  command?: string[];
}

export type Kind = 'command' | 'scripted';

export interface Trial {
  session: AgentSession;
  end: Promise<AgentEnd>;
  output(): string;
  seen: { usage: unknown[]; progress: unknown[]; outputLength: number; longestChunk: number };
  /** Resolves once the output contains the text. */
  says(text: string): Promise<void>;
}

const KEPT = 64 * 1024;

/** A folder laid out as the product lays it out: a repository, and beside it a data folder with the worktree. */
export class AgentBench {
  readonly base: string;
  readonly host: ChildHost;
  readonly worktree: string;
  /** Questions put while agents worked. */
  readonly asked: AskedQuestion[] = [];

  private constructor(base: string, sandbox: ChildHost['sandbox']) {
    this.base = base;
    const dataDir = path.join(base, 'data');
    this.host = { root: path.join(base, 'repository'), dataDir, homeId: dataDir, sandbox };
    this.worktree = path.join(dataDir, 'worktrees', '7');
  }

  static async open(sandbox: ChildHost['sandbox']): Promise<AgentBench> {
    const bench = new AgentBench(await mkdtemp('/tmp/tidemill agents ü '), sandbox);
    await mkdir(bench.host.root, { recursive: true });
    await mkdir(bench.worktree, { recursive: true });
    return bench;
  }

  async close(): Promise<void> {
    await rm(this.base, { recursive: true, force: true });
  }

  async start(kind: Kind, behaviour: Behaviour, more: Change = {}) {
    await writeFile(path.join(this.host.root, 'agent.sh'), behaviour.shell);
    const scenario = { runs: [{ when: { mode: 'implement' }, do: behaviour.steps }] };
    await writeFile(path.join(this.host.root, 'scenario.yaml'), JSON.stringify(scenario));
    const config: AgentConfig =
      kind === 'command'
        ? {
            type: 'command',
            command: more.command ?? ['sh', './agent.sh'],
            env: {},
            pass: [],
            writable: [],
            fallback: [],
          }
        : { type: 'scripted', script: 'scenario.yaml' };
    const agent = createAgentFor({ default: config }, this.host)(more.brief?.mode ?? 'implement');
    return this.watch((sink) =>
      agent.start(
        {
          runId: `run_${crypto.randomUUID()}`,
          cwd: more.cwd ?? this.worktree,
          brief: { ...BRIEF, ...more.brief },
          timeoutMs: more.timeoutMs ?? 60_000,
          maxTurns: 50,
          model: null,
          tools: null,
          resume: null,
          guard: async () => ({ kind: 'allow' as const }),
          beforeStop: async () => null,
          ask: async (questions) => {
            this.asked.push(...questions);
            return 'asked';
          },
        },
        sink,
      ),
    );
  }

  watch(start: (sink: Parameters<ReturnType<ReturnType<typeof createAgentFor>>['start']>[1]) => AgentSession): Trial {
    let text = '';
    const waiting = new Map<string, () => void>();
    const seen: Trial['seen'] = { usage: [], progress: [], outputLength: 0, longestChunk: 0 };
    const session = start({
      output(chunk) {
        seen.outputLength += chunk.length;
        seen.longestChunk = Math.max(seen.longestChunk, chunk.length);
        text = (text + chunk).slice(-KEPT);
        for (const [wanted, resolve] of waiting) if (text.includes(wanted)) resolve();
      },
      usage: (usage) => void seen.usage.push(usage),
      progress: (percent, said) => void seen.progress.push([percent, said]),
      session: () => undefined,
    });
    return {
      session,
      end: session.end,
      output: () => text,
      seen,
      says: (wanted) =>
        new Promise((resolve) => {
          if (text.includes(wanted)) return resolve();
          waiting.set(wanted, resolve);
        }),
    };
  }

  leftOver() {
    return leakedProcesses(this.host.homeId);
  }

  read(file: string): Promise<string> {
    return readFile(path.join(this.worktree, file), 'utf8');
  }
}

export const BRIEF: AgentBrief = {
  mode: 'implement',
  prompt: 'Do it, ü.',
  task: {
    id: 'task_1',
    number: 7,
    title: 'Add a sum',
    body: 'It adds.',
    acceptance: [
      { id: 'c1', text: 'adds' },
      { id: 'c2', text: 'rounds' },
    ],
    files: ['src/**'],
    stage: 'implement',
  },
  attempt: 1,
  feedback: [],
};
