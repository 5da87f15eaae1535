import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { AgentConfig, Usage } from '@tidemill/contract';
import { createAgentFor } from '../../packages/daemon/src/agents/agent-for.ts';
import type { AgentEnd, AgentRequest, AgentSession } from '../../packages/daemon/src/ports.ts';
import type { ChildHost } from '../../packages/daemon/src/process/child.ts';
import { leakedProcesses } from '../../packages/daemon/src/process/leaks.ts';
import { type ResponsesServer, type ResponsesTurn, startResponsesServer } from '../support/model/responses.ts';
import { BRIEF } from './agent-bench.ts';

const VERSION = '0.166.0';

/** The vendor's program, installed once per machine outside the repository; or why it cannot be had. */
export async function installCodex(): Promise<{ program: string } | { missing: string }> {
  const folder = path.join(tmpdir(), 'tidemill-vendors', `codex@${VERSION}`);
  const program = path.join(folder, 'node_modules', '.bin', 'codex');
  const isThere = async () => (await stat(program).catch(() => null)) !== null;
  if (await isThere()) return { program };
  // Installed aside and moved: two test runs may be at it, and one may be killed half-way.
  await mkdir(path.dirname(folder), { recursive: true });
  const aside = await mkdtemp(`${folder}-`);
  try {
    const args = ['install', '--prefix', aside, '--no-audit', '--no-fund', '--no-save', `@openai/codex@${VERSION}`];
    await promisify(execFile)('npm', args, { timeout: 180_000 });
    await rename(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!(await isThere()))
      return { missing: `@openai/codex@${VERSION} cannot be installed: ${(error as Error).message}` };
  }
  return { program };
}

export const RESULT = { outcome: 'pr_ready', summary: 'done', open_questions: null };

export interface CodexTrial {
  session: AgentSession;
  end: Promise<AgentEnd>;
  output(): string;
  usage(): Usage;
  sessions: string[];
  /** Resolves once the output contains the text. */
  says(text: string): Promise<void>;
}

interface Change extends Partial<AgentRequest> {
  model?: string;
  program?: string;
  /** Null: as somebody who has logged in. */
  key?: string | null;
}

/** The only model of this version that has the plain tools and a price. */
const MODEL = 'gpt-5.5';

/** A repository, and beside it a data folder with the worktree. Not below the temporary folder: no run is in real life. */
export class CodexBench {
  readonly base: string;
  readonly host: ChildHost;
  readonly worktree: string;
  readonly #program: string;
  #model: ResponsesServer | undefined;

  private constructor(base: string, program: string, sandbox: ChildHost['sandbox']) {
    this.base = base;
    const dataDir = path.join(base, 'data');
    this.host = { root: path.join(base, 'repository'), dataDir, homeId: dataDir, sandbox };
    this.worktree = path.join(dataDir, 'worktrees', '7');
    this.#program = program;
  }

  static async open(program: string, sandbox: ChildHost['sandbox']): Promise<CodexBench> {
    const bench = new CodexBench(await mkdtemp('/var/tmp/tidemill codex ü '), program, sandbox);
    await mkdir(bench.host.root, { recursive: true });
    await mkdir(bench.worktree, { recursive: true });
    return bench;
  }

  /** A model that answers with these turns, or always with the one. */
  async model(script: ResponsesTurn[] | ResponsesTurn): Promise<ResponsesServer> {
    this.#model = await startResponsesServer(script);
    return this.#model;
  }

  async close(): Promise<void> {
    await this.#model?.stop();
    await rm(this.base, { recursive: true, force: true });
  }

  start(url: string, more: Change = {}): CodexTrial {
    const { model = MODEL, program = this.#program, key = 'dummy', ...request } = more;
    const config: AgentConfig = {
      ...{ type: 'codex', program, model, pass: [], writable: [], fallback: [] },
      env: { OPENAI_BASE_URL: `${url}/v1`, HOME: this.base, ...(key === null ? {} : { OPENAI_API_KEY: key }) },
    };
    const agent = createAgentFor({ default: config }, this.host)(request.brief?.mode ?? 'implement');
    let text = '';
    const waiting = new Map<string, () => void>();
    const booked: Usage[] = [];
    const sessions: string[] = [];
    const session = agent.start(
      {
        ...{ runId: `run_${crypto.randomUUID()}`, cwd: this.worktree, brief: BRIEF, timeoutMs: 60_000, maxTurns: 50 },
        ...{
          model: null,
          tools: null,
          resume: null,
          guard: async () => ({ kind: 'allow' as const }),
          beforeStop: async () => null,
        },
        ...request,
      },
      {
        output(chunk) {
          text += chunk;
          for (const [wanted, resolve] of waiting) if (text.includes(wanted)) resolve();
        },
        usage: (usage) => void booked.push(usage),
        progress: () => undefined,
        session: (id) => void sessions.push(id),
      },
    );
    const sum = (pick: (usage: Usage) => number | null) => booked.reduce((total, one) => total + (pick(one) ?? 0), 0);
    return {
      ...{ session, end: session.end, sessions, output: () => text },
      usage: () => ({
        inputTokens: sum((usage) => usage.inputTokens),
        outputTokens: sum((usage) => usage.outputTokens),
        requests: sum((usage) => usage.requests),
        costUsd: booked.some((usage) => usage.costUsd === null) ? null : sum((usage) => usage.costUsd),
      }),
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
