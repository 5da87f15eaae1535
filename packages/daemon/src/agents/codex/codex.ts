import type { FailureClass } from '@tidemill/contract';
import type { ResultExpectation } from '@tidemill/core';
import type { Agent, AgentEnd, AgentRequest, AgentSink } from '../../ports.ts';
import type { ChildEnd, ChildHost } from '../../process/child.ts';
import { sandboxStatus } from '../../process/sandbox.ts';
import { TimeLimit } from '../../process/time-limit.ts';
import { mcpVariables, withOwnTools } from '../own-tools.ts';
import type { Prices } from '../prices.ts';
import { PROXY_VARIABLES } from '../proxy-variables.ts';
import { readResult, repairRequest } from '../result.ts';
import { beginSession } from '../session.ts';
import { classify, retryAtIn } from './failure.ts';
import { type GuardSocket, openGuardSocket } from './guard-socket.ts';
import { prepareHome, tidyHome } from './home.ts';
import { findCodex } from './program.ts';
import { CodexProgress } from './progress.ts';
import { SessionCosts } from './session-costs.ts';
import { runTurn, type TurnEnd, type TurnSpec } from './turn.ts';

/** Variables that Codex gets from the daemon's environment without `pass`: the base URL and the key of its model. */
export const CODEX_ENV = [
  'OPENAI_BASE_URL',
  'OPENAI_API_KEY',
  'CODEX_API_KEY',
  'CODEX_CA_CERTIFICATE',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  ...PROXY_VARIABLES,
];

export interface CodexAgentOptions {
  label: string;
  program: string | undefined;
  model: string | undefined;
  /** The environment of the program. OPENAI_BASE_URL and the keys in it select the model's service. */
  env: Record<string, string>;
  writable: string[];
  prices: Prices;
  host: ChildHost;
}

/**
 * Codex, one `codex exec` per turn:
 *
 *   start ──▶ turn ──result fits──▶ result
 *              │└──no or unfit result──▶ repair turn (resume) ──▶ result | invalid_result
 *              └──failed, stopped, out of time or turns──▶ failed
 */
export function createCodexAgent(options: CodexAgentOptions): Agent {
  return {
    label: options.label,
    start: (request, sink) => beginSession((stopped) => run(options, withOwnTools(request), sink, stopped)),
  };
}

const failed = (failure: FailureClass, message: string, exitCode: number | null = null): AgentEnd => ({
  kind: 'failed',
  failure,
  message,
  exitCode,
});

async function run(
  options: CodexAgentOptions,
  request: AgentRequest,
  sink: AgentSink,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const program = await findCodex(options.program, options.host.root);
  if ('missing' in program) return failed('spawn', program.missing);
  const guards = await openGuardSocket(request);
  try {
    return await converse(options, program.file, request, sink, guards, signal);
  } finally {
    await guards.close();
  }
}

async function converse(
  options: CodexAgentOptions,
  program: string,
  request: AgentRequest,
  sink: AgentSink,
  guards: GuardSocket,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const { host, writable, prices } = options;
  const env = { ...options.env, ...mcpVariables(request) };
  const { mode } = request.brief;
  const model = options.model ?? request.model ?? undefined;
  const isSandboxed = host.sandbox === 'auto' && (await sandboxStatus()).available;
  const session = isSession(request.resume) ? request.resume : null;
  const home = await prepareHome({
    dataDir: host.dataDir,
    runId: request.runId,
    session,
    mode,
    model,
    env,
    isSandboxed,
    writable,
    guards,
    mcp: request.mcp,
  });
  const costs = await SessionCosts.open(home.path, prices, (usage) => sink.usage(usage));
  const progress = new CodexProgress(request.maxTurns);
  // The limit applies to both turns. Each child gets the remaining time.
  const limit = new TimeLimit(request.timeoutMs, () => undefined);
  const letGo = request.control?.take(limit);
  const spec = (resume: string | null, prompt: string): TurnSpec => ({
    host,
    program,
    request,
    sink,
    home,
    env,
    writable,
    guards,
    costs,
    progress,
    signal,
    resume,
    prompt,
    model: model ?? '',
    timeoutMs: limit.leftMs,
  });
  try {
    const first = await firstTurn(spec, home.hasSession ? session : null, request.brief.prompt);
    const trouble = troubleOf(first, request);
    if (trouble) return trouble;
    const { shown } = request.brief;
    const expected = { mode, criteria: request.brief.task?.acceptance ?? [], shown };
    const read = readResult(first.lastMessage, expected);
    if ('envelope' in read) return { kind: 'result', envelope: read.envelope };
    const problem = 'invalid' in read ? read.invalid : read.missing;
    if (first.session === null) return failed('no_result', `codex reported no session and no result: ${problem}`, 0);
    const second = await runTurn(spec(first.session, repairRequest(problem, expected)));
    return troubleOf(second, request) ?? lastReading(second, expected);
  } finally {
    limit.kill();
    letGo?.();
    // Leftovers cost a little space. The result is more important.
    await tidyHome(home, host.dataDir).catch((error: Error) => sink.output(`note: ${error.message}\n`));
  }
}

async function firstTurn(
  spec: (resume: string | null, prompt: string) => TurnSpec,
  resume: string | null,
  prompt: string,
): Promise<TurnEnd> {
  const turn = await runTurn(spec(resume, prompt));
  if (resume === null || turn.hasBegun || turn.end.kind !== 'exited') return turn;
  // The session of a killed program may be lost. The prompt has everything for a new start.
  return runTurn(spec(null, prompt));
}

/** Sessions are named by UUIDs; anything else would be read as an option or a name. */
const isSession = (id: string | null): id is string => id !== null && /^[0-9a-f-]{36}$/i.test(id);

function lastReading({ lastMessage }: TurnEnd, expected: ResultExpectation): AgentEnd {
  const read = readResult(lastMessage, expected);
  if ('envelope' in read) return { kind: 'result', envelope: read.envelope };
  if ('missing' in read && lastMessage === '') return failed('no_result', read.missing, 0);
  return failed('invalid_result', `${'invalid' in read ? read.invalid : read.missing} It was asked for twice.`, 0);
}

type Exit = Extract<ChildEnd, { kind: 'exited' }>;

/** Why the turn did not finish, or null. */
function troubleOf(turn: TurnEnd, request: AgentRequest): AgentEnd | null {
  const { end } = turn;
  switch (end.kind) {
    case 'unstartable':
      return failed('spawn', end.message);
    case 'over_limit':
      return failed('crash', `codex ${end.message}`);
    case 'timeout':
      return failed('timeout', `codex did not end within ${request.timeoutMs / 1000} s`);
    case 'stopped':
      if (turn.ended === null) return failed('crash', 'stopped');
      if (turn.ended === 'hopeless') return vendorFailure(turn, null);
      return failed('turn_limit', `codex was ended after ${request.maxTurns} requests to its model`);
    case 'exited':
      return end.exitCode === 0 && turn.failure === null ? null : vendorFailure(turn, end);
  }
}

function vendorFailure({ failure: told, lastWords }: TurnEnd, end: Exit | null): AgentEnd {
  // Its last output also has errors of single tools. Only lines marked as an error are about Codex itself.
  const said = told ?? lastWords.split('\n').findLast((line) => /^\s*error:/i.test(line)) ?? '';
  const failure = classify(said) ?? (told === null ? 'crash' : 'unknown');
  const how = end?.signal ? `was killed by ${end.signal}` : `exited with code ${end?.exitCode}`;
  const message = told ?? `codex ${how}${lastWords ? `; last output:\n${lastWords}` : ''}`;
  const retryAt = failure === 'rate_limit' ? retryAtIn(said, Date.now()) : undefined;
  const exitCode = end?.exitCode ?? null;
  return { kind: 'failed', failure, message, exitCode, ...(retryAt === undefined ? {} : { retryAt }) };
}
