import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isReadOnly, type Mode } from '@tidemill/contract';
import type { Agent, AgentEnd, AgentRequest, AgentSink } from '../../ports.ts';
import type { ChildHost } from '../../process/child.ts';
import { isInside } from '../../process/mounts.ts';
import { sandboxStatus } from '../../process/sandbox.ts';
import { MCP_SERVER, MCP_TOKEN_VARIABLE, mcpVariables, withOwnTools } from '../own-tools.ts';
import type { Prices } from '../prices.ts';
import { PROXY_VARIABLES } from '../proxy-variables.ts';
import { resultSchema } from '../result-schema.ts';
import { beginSession } from '../session.ts';
import { askServer } from './ask-tool.ts';
import { ControlChannel } from './control.ts';
import { Conversation, INTERRUPT_MS } from './conversation.ts';
import { type ClaudeHome, forgetOldHomes, hasSession, prepareHome } from './home.ts';
import { createHooks, createPermission } from './hooks.ts';
import { type ClaudeChild, ClaudeProcess } from './process.ts';
import { usableClaude } from './program.ts';
import { ClaudeProgress, TODO_TOOLS } from './progress.ts';
import { RequestCosts } from './request-costs.ts';

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

const READING = ['Bash', 'Read', 'Grep', 'Glob', 'Task', 'Agent', ...TODO_TOOLS, 'WebFetch', 'WebSearch'];
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

/** Claude Code: the program `claude`, driven through its standard input and output. */
export function createClaudeAgent(options: ClaudeAgentOptions): Agent {
  return {
    label: options.label,
    start: (request, sink) => beginSession((stopped) => run(options, withOwnTools(request), sink, stopped)),
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
  const program = await usableClaude(options.program, host.root);
  if ('missing' in program) return { kind: 'failed', failure: 'spawn', message: program.missing, exitCode: null };
  await forgetOldHomes(host.dataDir);
  const reads = isReadOnly(request.brief.mode);
  const home = await prepareHome({ dataDir: host.dataDir, worktree: request.cwd, isReader: reads, env });
  let hasBegun = false;
  const session = (id: string) => {
    hasBegun = true;
    sink.session(id);
  };
  const play = (resume: string | null) =>
    converse(options, { ...request, resume }, { ...sink, session }, { program: program.file, home, until, signal });
  const resume = request.resume !== null && (await hasSession(home, request.resume)) ? request.resume : null;
  const end = await play(resume);
  const isUnusable = resume !== null && !hasBegun && end.kind === 'failed' && end.failure !== 'timeout';
  if (!isUnusable || signal.aborted) return end;
  // The session of a killed program may be lost. The prompt has everything for a new start.
  sink.output(`[session ${resume} cannot be resumed: ${end.message}]\n`);
  return play(null);
}

interface Means {
  program: string;
  home: ClaudeHome;
  /** On the clock of `performance`. */
  until: number;
  signal: AbortSignal;
}

async function converse(
  options: ClaudeAgentOptions,
  request: AgentRequest,
  sink: AgentSink,
  { program, home, until, signal }: Means,
): Promise<AgentEnd> {
  const { mode, task, prompt, shown } = request.brief;
  const spec = await childSpec(options, request, home, program);
  const hooks = createHooks({ ...request, isRepairing: () => conversation.isRepairing });
  const permission = createPermission((call) => request.guard(call));
  const questions = askServer(request.ask);
  const conversation: Conversation = new Conversation({
    expected: { mode, criteria: task?.acceptance ?? [], shown },
    prompt,
    isReadAlong: mode === 'ideate',
    sink,
    costs: new RequestCosts(options.prices, request.resume !== null, (...usage) => sink.usage(...usage)),
    progress: new ClaudeProgress(request.maxTurns),
    hasAsked: hooks.hasAsked,
    terms: {
      hooks: hooks.registered,
      sdkMcpServers: questions ? [questions.name] : [],
      // Its own system prompt is for a conversation with a person.
      systemPrompt: [''],
      // Without it, requests of subagents that use no tool are not reported.
      forwardSubagentText: true,
    },
    open: (message) =>
      new ClaudeProcess(
        spec,
        new ControlChannel({
          hook: hooks.call,
          permission,
          mcp: async (server, said) => (questions ? questions.answer(server, said) : null),
          message,
          noise: (text) => sink.output(text),
        }),
      ),
  });
  const stop = () => void conversation.halt('stopped');
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const end = await conversation.run(request.timeoutMs, until - performance.now(), request.control);
  signal.removeEventListener('abort', stop);
  return end;
}

async function childSpec(
  { host, writable, env, ...options }: ClaudeAgentOptions,
  request: AgentRequest,
  home: ClaudeHome,
  program: string,
): Promise<ClaudeChild> {
  const isSandboxed = host.sandbox === 'auto' && (await sandboxStatus()).available;
  // Some installations keep the program, or the link to it, in the person's folder.
  const own = [program, await realpath(program)].filter((file) => home.hidden.some((folder) => isInside(file, folder)));
  return {
    host,
    runId: request.runId,
    command: [program, ...argumentsFor(request, options.model ?? request.model)],
    cwd: request.cwd,
    env: { ...QUIET, ...env, ...mcpVariables(request), ...home.env, ...(isSandboxed ? { IS_SANDBOX: '1' } : {}) },
    network: true,
    readOnlyWorktree: isReadOnly(request.brief.mode),
    writable: [...home.writable, ...writable],
    hidden: home.hidden,
    readable: own.map((file) => path.dirname(file)),
    control: request.control,
    timeoutMs: request.timeoutMs + 60_000, // the conversation has its own time limit and stops gracefully first
    graceMs: STOP_MS - INTERRUPT_MS,
  };
}

/** The person's and the repository's own settings are not loaded: hooks in them would run as that person. */
function argumentsFor({ brief: { mode }, tools, maxTurns, resume, mcp }: AgentRequest, model: string | null): string[] {
  const { allowed, denied } = toolsFor(mode, tools);
  return [
    '--print',
    ...['--input-format=stream-json', '--output-format=stream-json', '--verbose'],
    // Without it, a request is reported only when its answer is complete, and an aborted one never.
    '--include-partial-messages',
    ...['--setting-sources=', '--strict-mcp-config'],
    ...(mcp ? [`--mcp-config=${mcpConfig(mcp.url)}`] : []),
    ...['--permission-mode=default', '--permission-prompt-tool=stdio'],
    ...[`--tools=${allowed.join(',')}`, ...(denied.length > 0 ? [`--disallowed-tools=${denied.join(',')}`] : [])],
    `--max-turns=${maxTurns}`,
    `--json-schema=${JSON.stringify(resultSchema(mode, 'wide'))}`,
    ...(model === null ? [] : [`--model=${model}`]),
    ...(resume === null ? [] : [`--resume=${resume}`]),
  ];
}

/** Claude Code fills in the variable itself. */
function mcpConfig(url: string): string {
  const headers = { Authorization: `Bearer \${${MCP_TOKEN_VARIABLE}}` };
  return JSON.stringify({ mcpServers: { [MCP_SERVER]: { type: 'http', url, headers } } });
}

/** A prompt can only restrict the tools that the mode allows. */
function toolsFor(mode: Mode, wanted: string[] | null): { allowed: string[]; denied: string[] } {
  const usual = isReadOnly(mode) ? READING : [...READING, ...WRITING];
  const allowed = wanted === null ? usual : usual.filter((tool) => wanted.includes(tool));
  return { allowed, denied: WRITING.filter((tool) => !allowed.includes(tool)) };
}
