import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { AgentConfig, Usage } from '@tidemill/contract';
import { createAgentFor } from '../../packages/daemon/src/agents/agent-for.ts';
import type { AgentEnd, AgentRequest, AgentSession } from '../../packages/daemon/src/ports.ts';
import type { ChildHost } from '../../packages/daemon/src/process/child.ts';
import { leakedProcesses } from '../../packages/daemon/src/process/leaks.ts';
import { BRIEF } from './agent-bench.ts';

const VERSION = '0.3.325';
const PACKAGE = '@anthropic-ai/claude-agent-sdk';

/** The vendor's SDK and program, installed once per machine outside the repository; or why they cannot be had. */
export async function installClaude(): Promise<{ modules: string } | { missing: string }> {
  const folder = path.join(tmpdir(), 'tidemill-vendors', `claude-agent-sdk@${VERSION}`);
  const modules = path.join(folder, 'node_modules');
  const program = path.join(modules, `${PACKAGE}-${process.platform}-${process.arch}`, 'claude');
  const isThere = async () => (await stat(program).catch(() => null)) !== null;
  if (await isThere()) return { modules };
  // Installed aside and moved: two test runs may be at it, and one may be killed half-way.
  await mkdir(path.dirname(folder), { recursive: true });
  const aside = await mkdtemp(`${folder}-`);
  try {
    const args = ['install', '--prefix', aside, '--no-audit', '--no-fund', '--no-save', `${PACKAGE}@${VERSION}`];
    await promisify(execFile)('npm', args, { timeout: 180_000 });
    await rename(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!(await isThere()))
      return { missing: `${PACKAGE}@${VERSION} cannot be installed: ${(error as Error).message.slice(0, 500)}` };
  }
  return (await isThere()) ? { modules } : { missing: `${PACKAGE}@${VERSION} came without a program for this machine` };
}

/** What the person's own Claude Code keeps in `.credentials.json` after they logged in with a subscription. */
export const login = (token: string) =>
  JSON.stringify({
    claudeAiOauth: {
      ...{ accessToken: token, refreshToken: 'r', expiresAt: Date.now() + 8 * 3_600_000 },
      ...{ scopes: ['user:inference', 'user:profile'], subscriptionType: 'max' },
    },
  });

export interface ClaudeTrial {
  session: AgentSession;
  end: Promise<AgentEnd>;
  output(): string;
  usage(): Usage;
  sessions: string[];
  /** Resolves once the output contains the text. */
  says(text: string): Promise<void>;
}

interface Change extends Partial<AgentRequest> {
  env?: Record<string, string>;
  program?: string;
  model?: string;
}

/** A repository with the SDK in its node_modules, and beside it a data folder with the worktree. */
export class ClaudeBench {
  readonly base: string;
  readonly home: string;
  readonly host: ChildHost;
  readonly worktree: string;

  private constructor(base: string, sandbox: ChildHost['sandbox']) {
    this.base = base;
    this.home = path.join(base, 'home');
    const dataDir = path.join(base, 'data');
    this.host = { root: path.join(base, 'repository'), dataDir, homeId: dataDir, sandbox };
    this.worktree = path.join(dataDir, 'worktrees', '7');
  }

  static async open(modules: string | null, sandbox: ChildHost['sandbox']): Promise<ClaudeBench> {
    const bench = new ClaudeBench(await mkdtemp(path.join(tmpdir(), 'tidemill claude ü ')), sandbox);
    for (const folder of [bench.host.root, bench.worktree, bench.home]) await mkdir(folder, { recursive: true });
    if (modules) await symlink(modules, path.join(bench.host.root, 'node_modules'));
    return bench;
  }

  async close(): Promise<void> {
    await rm(this.base, { recursive: true, force: true, maxRetries: 5 });
  }

  start(url: string, more: Change = {}): ClaudeTrial {
    const { env = {}, program, model, ...request } = more;
    const config: AgentConfig = {
      ...{ type: 'claude', program, model, pass: [], writable: [], fallback: [] },
      env: {
        ...{ HOME: this.home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'dummy' },
        ...{ CLAUDE_CODE_MAX_RETRIES: '1', CLAUDE_CONFIG_DIR: path.join(this.home, '.claude') },
        ...env,
      },
    };
    const agent = createAgentFor({ default: config }, this.host)(request.brief?.mode ?? 'implement');
    let text = '';
    const waiting = new Map<string, () => void>();
    const sum: Usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
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
        // As the engine adds it up.
        usage: ({ inputTokens, outputTokens, costUsd, requests }) => {
          sum.inputTokens += inputTokens;
          sum.outputTokens += outputTokens;
          sum.requests += requests;
          if (costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + costUsd;
        },
        progress: () => undefined,
        session: (id) => void sessions.push(id),
      },
    );
    return {
      ...{ session, end: session.end, sessions, output: () => text, usage: () => ({ ...sum }) },
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
