import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  type AgentConfig,
  type AskedQuestion,
  AUTONOMY_PRESETS,
  type ProgressReport,
  type Usage,
} from '@tidemill/contract';
import { createAgentFor } from '../../packages/daemon/src/agents/agent-for.ts';
import type { AgentBrief, AgentEnd, AgentRequest, AgentSession, AgentSink } from '../../packages/daemon/src/ports.ts';
import type { ChildHost } from '../../packages/daemon/src/process/child.ts';
import { leakedProcesses } from '../../packages/daemon/src/process/leaks.ts';

/** What the port reports, and what tests wait for. */
export interface Trial {
  session: AgentSession;
  end: Promise<AgentEnd>;
  output(): string;
  seen: { usage: Usage[]; progress: ProgressReport[]; outputLength: number; longestChunk: number };
  sessions: string[];
  /** Tool uses that the adapter itself refused. */
  denied: { tool: string; guard: string; reason: string }[];
  /** As the engine sums it; the cost is null while the price of a request is missing. */
  usage(): { inputTokens: number; outputTokens: number; requests: number; costUsd: number | null };
  /** Resolves once the output contains the text. */
  says(text: string): Promise<void>;
}

const KEPT = 64 * 1024;
/** From the request to stop until nothing is left: five seconds plus what a busy machine needs. Less than twice five. */
export const MOST_MS = 9_500;
/** An agent still running after this was not asked to end, or its end was missed. */
export const AT_ONCE_MS = 4_900;

/** A folder with the product's layout: a repository, and next to it a data folder with the worktree. */
export class Bench {
  readonly base: string;
  readonly host: ChildHost;
  readonly worktree: string;
  /** Questions asked while agents worked. */
  readonly asked: AskedQuestion[] = [];

  protected constructor(base: string, sandbox: ChildHost['sandbox']) {
    this.base = base;
    const dataDir = path.join(base, 'data');
    this.host = { root: path.join(base, 'repository'), dataDir, homeId: dataDir, sandbox };
    this.worktree = path.join(dataDir, 'worktrees', '7');
  }

  protected async lay(): Promise<this> {
    await mkdir(this.host.root, { recursive: true });
    await mkdir(this.worktree, { recursive: true });
    return this;
  }

  async close(): Promise<void> {
    await rm(this.base, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The repository's own prices. */
  async prices(text: string): Promise<void> {
    await mkdir(path.join(this.host.root, '.tidemill'), { recursive: true });
    await writeFile(path.join(this.host.root, '.tidemill', 'prices.yaml'), text);
  }

  /** Lets a configured agent do what is asked for. */
  try(agents: Record<string, AgentConfig>, more: Partial<AgentRequest> = {}): Trial {
    const agent = createAgentFor(agents, this.host)(more.brief?.mode ?? 'implement');
    return watch((sink) => agent.start(this.request(more), sink));
  }

  request(more: Partial<AgentRequest>): AgentRequest {
    return {
      runId: `run_${crypto.randomUUID()}`,
      cwd: this.worktree,
      brief: BRIEF,
      timeoutMs: 60_000,
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
      ...more,
    };
  }

  leftOver() {
    return leakedProcesses(this.host.homeId);
  }

  read(file: string): Promise<string> {
    return readFile(path.join(this.worktree, file), 'utf8');
  }
}

export function watch(start: (sink: AgentSink) => AgentSession): Trial {
  let text = '';
  let unpriced = 0;
  const waiting = new Map<string, () => void>();
  const seen: Trial['seen'] = { usage: [], progress: [], outputLength: 0, longestChunk: 0 };
  const sessions: string[] = [];
  const denied: Trial['denied'] = [];
  const session = start({
    output(chunk) {
      seen.outputLength += chunk.length;
      seen.longestChunk = Math.max(seen.longestChunk, chunk.length);
      text = (text + chunk).slice(-KEPT);
      for (const [wanted, resolve] of waiting) if (text.includes(wanted)) resolve();
    },
    usage(usage, settled = 0) {
      seen.usage.push(usage);
      unpriced += (usage.costUsd === null ? usage.requests : 0) - settled;
    },
    progress: (report) => void seen.progress.push(report),
    session: (id) => void sessions.push(id),
    denied: ({ tool }, guard, reason) => void denied.push({ tool, guard, reason }),
  });
  const sum = (pick: (usage: Usage) => number | null) => seen.usage.reduce((total, one) => total + (pick(one) ?? 0), 0);
  return {
    session,
    end: session.end,
    output: () => text,
    seen,
    sessions,
    denied,
    usage: () => ({
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
      requests: sum(({ requests }) => requests),
      costUsd: unpriced > 0 ? null : Number(sum(({ costUsd }) => costUsd).toFixed(9)),
    }),
    says: (wanted) =>
      new Promise((resolve) => {
        if (text.includes(wanted)) return resolve();
        waiting.set(wanted, resolve);
      }),
  };
}

/** One behaviour in both forms: as a shell program for `command`, as steps for `scripted`. */
export interface Behaviour {
  shell: string;
  steps: unknown[];
}

interface Change extends Omit<Partial<AgentRequest>, 'brief'> {
  brief?: Partial<AgentBrief>;
  command?: string[];
}

export type Kind = 'command' | 'scripted';

/** For the agents that need no vendor. */
export class AgentBench extends Bench {
  static async open(sandbox: ChildHost['sandbox']): Promise<AgentBench> {
    return new AgentBench(await mkdtemp('/tmp/tidemill agents ü '), sandbox).lay();
  }

  async start(kind: Kind, behaviour: Behaviour, { command, brief, ...more }: Change = {}): Promise<Trial> {
    await writeFile(path.join(this.host.root, 'agent.sh'), behaviour.shell);
    const scenario = { runs: [{ when: { mode: 'implement' }, do: behaviour.steps }] };
    await writeFile(path.join(this.host.root, 'scenario.yaml'), JSON.stringify(scenario));
    const shell = { command: command ?? ['sh', './agent.sh'], env: {}, pass: [], writable: [], fallback: [] };
    const config: AgentConfig =
      kind === 'command' ? { type: 'command', ...shell } : { type: 'scripted', script: 'scenario.yaml' };
    return this.try({ default: config }, { ...more, brief: { ...BRIEF, ...brief } });
  }
}

export const BRIEF: AgentBrief = {
  mode: 'implement',
  prompt: 'Do it, ü.',
  subjectId: 'task_1',
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
  hilConfig: AUTONOMY_PRESETS.full,
};
