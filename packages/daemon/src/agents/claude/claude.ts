import path from 'node:path';
import { isReadOnly, type Mode } from '@tidemill/contract';
import type { Agent, AgentEnd, AgentRequest, AgentSink } from '../../ports.ts';
import type { ChildHost } from '../../process/child.ts';
import { sandboxStatus } from '../../process/sandbox.ts';
import type { Prices } from '../prices.ts';
import { PROXY_VARIABLES } from '../proxy-variables.ts';
import { resultSchema } from '../result-schema.ts';
import { beginSession } from '../session.ts';
import { askServer } from './ask-tool.ts';
import { Conversation, INTERRUPT_MS } from './conversation.ts';
import { type ClaudeHome, forgetOldHomes, hasSession, prepareHome } from './home.ts';
import { createHooks, createPermission } from './hooks.ts';
import { type ClaudeChild, ClaudeProcess } from './process.ts';
import { RequestCosts } from './request-costs.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import type { QueryOptions } from './sdk-types.ts';

/** Variables that Claude Code always gets from the daemon's environment, as a `claude` in the same terminal would. */
export const CLAUDE_ENV = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CONFIG_DIR',
  'NODE_EXTRA_CA_CERTS',
  ...PROXY_VARIABLES,
];

/** Without these it would call other hosts, wait minutes for a wrong key, or keep working after its result. */
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // When the vendor is down, Tidemill ends the run and waits itself.
  CLAUDE_CODE_MAX_RETRIES: '2',
};

const READING = ['Bash', 'Read', 'Grep', 'Glob', 'Task', 'Agent', 'TodoWrite', 'WebFetch', 'WebSearch'];
const WRITING = ['Edit', 'MultiEdit', 'Write', 'NotebookEdit'];

/** Time from the stop request to SIGKILL. */
const STOP_MS = 5_000;

export interface ClaudeAgentOptions {
  label: string;
  program: string | undefined;
  model: string | undefined;
  env: Record<string, string>;
  writable: string[];
  prices: Prices;
  host: ChildHost;
}

/** Claude Code, through the vendor's SDK. */
export function createClaudeAgent(options: ClaudeAgentOptions): Agent {
  return {
    label: options.label,
    start: (request, sink) => beginSession((stopped) => run(options, request, sink, stopped)),
  };
}

async function run(
  options: ClaudeAgentOptions,
  request: AgentRequest,
  sink: AgentSink,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const { host, env } = options;
  const until = performance.now() + request.timeoutMs;
  const sdk = await loadSdk(host.root, options.program);
  if ('missing' in sdk) return { kind: 'failed', failure: 'spawn', message: sdk.missing, exitCode: null };
  await forgetOldHomes(host.dataDir);
  const reads = isReadOnly(request.brief.mode);
  const home = await prepareHome({ dataDir: host.dataDir, worktree: request.cwd, isReader: reads, env });
  let hasBegun = false;
  const session = (id: string) => {
    hasBegun = true;
    sink.session(id);
  };
  const play = (resume: string | null) =>
    converse(options, { ...request, resume }, { ...sink, session }, { sdk, home, until, signal });
  const resume = request.resume !== null && (await hasSession(home, request.resume)) ? request.resume : null;
  const end = await play(resume);
  const isUnusable = resume !== null && !hasBegun && end.kind === 'failed' && end.failure !== 'timeout';
  if (!isUnusable || signal.aborted) return end;
  // The session of a killed program may be lost. The prompt has everything for a new start.
  sink.output(`[session ${resume} cannot be resumed: ${end.message}]\n`);
  return play(null);
}

interface Means {
  sdk: Sdk;
  home: ClaudeHome;
  /** On the clock of `performance`. */
  until: number;
  signal: AbortSignal;
}

async function converse(
  options: ClaudeAgentOptions,
  request: AgentRequest,
  sink: AgentSink,
  { sdk, home, until, signal }: Means,
): Promise<AgentEnd> {
  const { mode, task, prompt, shown } = request.brief;
  const base = await settings(options, request, sdk, home);
  const abort = new AbortController();
  let process: ClaudeProcess | null = null;
  const conversation: Conversation = new Conversation({
    expected: { mode, criteria: task?.acceptance ?? [], shown },
    prompt,
    sink,
    costs: new RequestCosts(options.prices, request.resume !== null, (...usage) => sink.usage(...usage)),
    abort,
    process: () => process,
    open: (said) =>
      sdk.query({
        prompt: said,
        options: {
          ...base,
          ...(request.resume === null ? {} : { resume: request.resume }),
          abortController: abort,
          hooks: createHooks({ ...request, isRepairing: () => conversation.isRepairing }),
          spawnClaudeCodeProcess: (wanted) => {
            process = new ClaudeProcess(childSpec(options, request, home, wanted.command), wanted);
            return process;
          },
        },
      }),
  });
  const stop = () => void conversation.halt('stopped');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const end = await conversation.run(request.timeoutMs, until - performance.now(), request.control);
  signal.removeEventListener('abort', stop);
  return end;
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
    readOnlyWorktree: isReadOnly(request.brief.mode),
    writable: [...home.writable, ...writable],
    hidden: home.hidden,
    readable: isHidden ? [path.dirname(program)] : [],
    control: request.control,
    timeoutMs: request.timeoutMs + 60_000, // the conversation has its own time limit and stops gracefully first
    graceMs: STOP_MS - INTERRUPT_MS,
  };
}

async function settings(
  options: ClaudeAgentOptions,
  request: AgentRequest,
  sdk: Sdk,
  home: ClaudeHome,
): Promise<Omit<QueryOptions, 'abortController' | 'hooks' | 'spawnClaudeCodeProcess'>> {
  const { mode } = request.brief;
  const model = options.model ?? request.model;
  const isSandboxed = options.host.sandbox === 'auto' && (await sandboxStatus()).available;
  return {
    cwd: request.cwd,
    env: { ...QUIET, ...options.env, ...home.env, ...(isSandboxed ? { IS_SANDBOX: '1' } : {}) },
    settingSources: [],
    strictMcpConfig: true,
    ...askServer(sdk, request.ask),
    verbatimPrompts: true,
    forwardSubagentText: true,
    includePartialMessages: true,
    permissionMode: 'default',
    canUseTool: createPermission((call) => request.guard(call)),
    ...toolsFor(mode, request.tools),
    maxTurns: request.maxTurns,
    outputFormat: { type: 'json_schema', schema: resultSchema(mode, 'wide') },
    ...(model === null ? {} : { model }),
    ...(sdk.program === undefined ? {} : { pathToClaudeCodeExecutable: sdk.program }),
  };
}

/** A prompt can only restrict the tools that the mode allows. */
function toolsFor(mode: Mode, wanted: string[] | null): Pick<QueryOptions, 'tools' | 'disallowedTools'> {
  const allowed = isReadOnly(mode) ? READING : [...READING, ...WRITING];
  const tools = wanted === null ? allowed : allowed.filter((tool) => wanted.includes(tool));
  return { tools, disallowedTools: WRITING.filter((tool) => !tools.includes(tool)) };
}
