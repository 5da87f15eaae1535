import path from 'node:path';
import type { Mode } from '@tidemill/contract';
import type { Agent, AgentEnd, AgentRequest, AgentSink } from '../../ports.ts';
import type { ChildHost } from '../../process/child.ts';
import { sandboxStatus } from '../../process/sandbox.ts';
import type { Prices } from '../prices.ts';
import { beginSession } from '../session.ts';
import { askServer } from './ask-tool.ts';
import { Conversation } from './conversation.ts';
import { type ClaudeHome, forgetOldHomes, hasSession, prepareHome } from './home.ts';
import { createHooks, createPermission } from './hooks.ts';
import { Ledger } from './ledger.ts';
import { type ClaudeChild, ClaudeProcess } from './process.ts';
import { resultSchema } from './result-schema.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import type { QueryOptions } from './sdk-types.ts';

/** What Claude Code gets from the daemon's environment unasked: what a `claude` in the same terminal would use. */
export const CLAUDE_ENV = [
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
  ...['CLAUDE_CONFIG_DIR', 'NODE_EXTRA_CA_CERTS'],
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'],
];

/** Without these it would call other hosts, wait minutes for a key that is wrong, or leave work behind its result. */
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // A vendor that is down is Tidemill's to wait for, with the run ended and nothing held.
  CLAUDE_CODE_MAX_RETRIES: '2',
};

const READING = ['Bash', 'Read', 'Grep', 'Glob', 'Task', 'Agent', 'TodoWrite', 'WebFetch', 'WebSearch'];
const WRITING = ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'];

export interface ClaudeAgentOptions {
  label: string;
  program: string | undefined;
  model: string | undefined;
  env: Record<string, string>;
  writable: string[];
  prices: Prices;
  host: ChildHost;
}

const isReader = (mode: Mode) => mode !== 'implement' && mode !== 'request_changes';

/** Claude Code, through the vendor's SDK. */
export function createClaudeAgent(options: ClaudeAgentOptions): Agent {
  return {
    label: options.label,
    start: (request, sink) =>
      beginSession((stopped) => {
        const asked = new Promise<void>((resolve) =>
          stopped.addEventListener('abort', () => resolve(), { once: true }),
        );
        return run(options, request, sink, asked);
      }),
  };
}

async function run(
  options: ClaudeAgentOptions,
  request: AgentRequest,
  sink: AgentSink,
  stopped: Promise<void>,
): Promise<AgentEnd> {
  const { host, prices, env } = options;
  const sdk = await loadSdk(host.root, options.program);
  if ('missing' in sdk) return { kind: 'failed', failure: 'spawn', message: sdk.missing, exitCode: null };
  await forgetOldHomes(host.dataDir);
  const { mode, task, prompt } = request.brief;
  const home = await prepareHome({ dataDir: host.dataDir, worktree: request.cwd, isReader: isReader(mode), env });
  const resume = request.resume !== null && (await hasSession(home, request.resume)) ? request.resume : undefined;
  const base = await settings(options, request, sdk, home);
  const abort = new AbortController();
  let process: ClaudeProcess | null = null;
  const conversation: Conversation = new Conversation({
    expected: { mode, criteria: task.acceptance },
    prompt,
    sink,
    ledger: new Ledger(prices, resume !== undefined, (usage) => sink.usage(usage)),
    abort,
    process: () => process,
    open: (said) =>
      sdk.query({
        prompt: said,
        options: {
          ...base,
          ...(resume === undefined ? {} : { resume }),
          abortController: abort,
          hooks: createHooks({ ...request, isRepairing: () => conversation.isRepairing }),
          spawnClaudeCodeProcess: (wanted) => {
            process = new ClaudeProcess(childSpec(options, request, home, wanted.command), wanted);
            return process;
          },
        },
      }),
  });
  void stopped.then(() => conversation.halt('stopped'));
  return conversation.run(request.timeoutMs, request.reins);
}

function childSpec(
  { host, writable }: ClaudeAgentOptions,
  request: AgentRequest,
  home: ClaudeHome,
  program: string,
): ClaudeChild {
  // Some installations keep the program itself in the person's folder.
  const isHidden = home.hidden.some((folder) => program.startsWith(folder + path.sep));
  return {
    host,
    runId: request.runId,
    cwd: request.cwd,
    network: true,
    readOnlyWorktree: isReader(request.brief.mode),
    writable: [...home.writable, ...writable],
    hidden: home.hidden,
    readable: isHidden ? [path.dirname(program)] : [],
    reins: request.reins,
    timeoutMs: request.timeoutMs + 60_000, // the conversation keeps the time itself, and asks before it ends anything
  };
}

async function settings(
  options: ClaudeAgentOptions,
  request: AgentRequest,
  sdk: Sdk,
  home: ClaudeHome,
): Promise<Omit<QueryOptions, 'abortController' | 'hooks' | 'spawnClaudeCodeProcess'>> {
  const { mode } = request.brief;
  const isSandboxed = options.host.sandbox === 'auto' && (await sandboxStatus()).available;
  return {
    cwd: request.cwd,
    env: { ...QUIET, ...options.env, ...home.env, ...(isSandboxed ? { IS_SANDBOX: '1' } : {}) },
    settingSources: [],
    strictMcpConfig: true,
    ...askServer(sdk, request.ask),
    verbatimPrompts: true,
    forwardSubagentText: true,
    permissionMode: 'default',
    canUseTool: createPermission((call) => request.guard(call)),
    tools: isReader(mode) ? READING : [...READING, ...WRITING],
    disallowedTools: isReader(mode) ? WRITING : [],
    maxTurns: request.maxTurns,
    outputFormat: { type: 'json_schema', schema: resultSchema(mode) },
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(sdk.program === undefined ? {} : { pathToClaudeCodeExecutable: sdk.program }),
  };
}
