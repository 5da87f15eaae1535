import { join } from 'node:path';
import type { AgentConfig } from '@tidemill/contract';
import type { ModelServer } from '../model/http.ts';
import {
  call,
  type MessagesRequest,
  type MessagesTurn,
  refusals,
  type Spoken,
  say,
  startMessagesServer,
  structured,
} from '../model/messages.ts';
import {
  type Assignment,
  assignmentOf,
  type Move,
  type Sent,
  type Told,
  type Trouble,
  USUAL_TOKENS,
} from '../model/mind.ts';
import {
  answer,
  exec,
  patch,
  type ResponsesItem,
  type ResponsesRequest,
  type ResponsesTurn,
  say as speak,
  startResponsesServer,
  turn,
} from '../model/responses.ts';
import { openCodeEnv } from '../opencode.ts';
import { CLAUDE_CODE, installVendor } from '../vendor.ts';

type Settings = Pick<Extract<AgentConfig, { type: 'claude' | 'codex' | 'acp' }>, 'type' | 'env'> &
  Record<string, unknown>;

/** A vendor's program and its model server: one script, in each vendor's protocol. */
export interface Vendor {
  name: string;
  npm: [name: string, version: string, program: string];
  serve(mind: Mind): Promise<VendorModel>;
  agent(url: string, installed: Installed): Settings;
}

/** Decides by the content of each request, because agents work concurrently. */
export type Mind = (about: Assignment) => Move;

export interface VendorModel extends Pick<ModelServer, 'url' | 'others' | 'stop'> {
  /** The usage sent with each complete answer; the recorded usage must match it. */
  sent: Sent[];
}

export interface Installed {
  bin: string;
  program: string;
  modules: string;
}

/** The only model of this version that has the plain tools and a price. */
const CODEX_MODEL = 'gpt-5.5';

export async function install({ npm: [name, version, program] }: Vendor): Promise<Installed | { missing: string }> {
  const found = await installVendor(name, version, program);
  if ('missing' in found) return found;
  return { ...found, modules: join(found.bin, '..') };
}

export const claude: Vendor = {
  name: 'claude',
  npm: [...CLAUDE_CODE],
  serve: (mind) => serveMessages(mind, 'claude', structured),
  agent: (url) => ({ type: 'claude', env: anthropicEnv(url) }),
};

export const codex: Vendor = {
  name: 'codex',
  npm: ['@openai/codex', '0.166.0', 'codex'],
  serve: serveResponses,
  agent: (url, { program }) => ({
    type: 'codex',
    program,
    model: CODEX_MODEL,
    env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'dummy' },
  }),
};

export const claudeAcp: Vendor = {
  name: 'claude-agent-acp',
  npm: ['@agentclientprotocol/claude-agent-acp', '0.99.1', 'claude-agent-acp'],
  serve: (mind) => serveMessages(mind, 'claude', inWords),
  agent: (url) => ({
    type: 'acp',
    preset: 'claude-agent-acp',
    env: { ...anthropicEnv(url), ENABLE_TOOL_SEARCH: 'false' },
  }),
};

export const opencode: Vendor = {
  name: 'opencode',
  npm: ['opencode-ai', '1.18.33', 'opencode'],
  serve: (mind) => serveMessages(mind, 'opencode', inWords),
  agent: (url, { bin }) => ({
    type: 'acp',
    command: ['opencode', 'acp'],
    env: openCodeEnv(url, bin),
  }),
};

const anthropicEnv = (url: string) => ({
  ANTHROPIC_BASE_URL: url,
  // As with a subscription: only there the server says when a limit ends.
  CLAUDE_CODE_OAUTH_TOKEN: 'dummy',
  // Its own retries would hide those of the daemon.
  CLAUDE_CODE_MAX_RETRIES: '0',
});

/** How an agent without structured output hands in its result. */
const inWords = (envelope: unknown, more: Partial<Spoken> = {}) =>
  say(`Done.\n\`\`\`json\n${JSON.stringify(envelope)}\n\`\`\`\n`, more);

const WORDS = {
  claude: { write: 'Write', file: 'file_path', shell: 'Bash' },
  opencode: { write: 'write', file: 'filePath', shell: 'bash' },
} as const;

async function serveMessages(
  mind: Mind,
  words: keyof typeof WORDS,
  handIn: (envelope: Record<string, unknown>, more: Partial<Spoken>) => Spoken,
): Promise<VendorModel> {
  const sent: Sent[] = [];
  const { write, file, shell } = WORDS[words];
  // Claude Code tries to continue with a summary from the same model; that is too long here as well.
  const full = new Set<unknown>();
  const server = await startMessagesServer((request): MessagesTurn => {
    const session = request.headers['x-claude-code-session-id'];
    if (full.has(session)) return refusals.tooLong;
    const about = request.body.tools?.length ? assignmentOf(toldInMessages(request)) : null;
    if (!about) return say('a title');
    const move = mind(about);
    if (move.kind === 'trouble' && move.what === 'too_long') full.add(session);
    if (move.kind === 'trouble') return refusalOf(move.what);
    if (move.kind === 'silence') return say('never said', { hangAfter: 2 });
    const { input, cached, output } = move.tokens ?? USUAL_TOKENS;
    sent.push({ task: about.task, input, cached, output });
    const usage = { usage: { input: input - cached, cacheRead: cached, output } };
    if (move.kind === 'result') return handIn(move.envelope, { ...usage, ...(move.say && { say: move.say }) });
    if (move.kind === 'ask') return call(`mcp__${move.server ?? 'tidemill'}__${move.tool}`, move.input, usage);
    if (move.kind === 'run') return call(shell, { command: move.command, description: 'as told' }, usage);
    return call(write, { [file]: join(worktreeIn(request), move.file), content: move.content }, usage);
  });
  return Object.assign(server, { sent });
}

function refusalOf(what: Trouble): MessagesTurn {
  if (typeof what === 'object')
    return refusals.usageLimit(
      'limitedUntil' in what ? what.limitedUntil : Math.ceil(Date.now() / 1000) + what.rateLimitSeconds,
    );
  const { auth, lowBalance: credit, broken, tooLong: too_long } = refusals;
  return { auth, credit, broken, too_long }[what];
}

/** Their tools for files want whole paths; both tell the model where it works. */
function worktreeIn({ body }: MessagesRequest): string {
  const found = /\/[^\s"'\\<>`]*\/worktrees\/[^\s"'\\<>`/]+/.exec(JSON.stringify([body.system, body.messages]));
  if (!found) throw new Error('the request does not say where the agent works');
  return found[0];
}

function toldInMessages({ body }: MessagesRequest): Told {
  const toolOf = new Map<string, string>();
  const entries = body.messages.flatMap(({ role, content }): Told['entries'] => {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    for (const { id, name } of blocks) if (id && name) toolOf.set(id, name);
    if (role === 'assistant') return [];
    return blocks.map((block) => {
      // The reply to a delivered result is not a tool's output.
      const isTool = block.type === 'tool_result' && toolOf.get(block.tool_use_id ?? '') !== 'StructuredOutput';
      return { kind: isTool ? 'tool' : 'words', text: block.text ?? JSON.stringify(block.content ?? '') };
    });
  });
  return { entries };
}

async function serveResponses(mind: Mind): Promise<VendorModel> {
  const booked: Sent[] = [];
  const server = await startResponsesServer((request): ResponsesTurn => {
    const about = assignmentOf(toldInInput(request));
    if (!about) return turn(speak('a title'));
    const move = mind(about);
    if (move.kind === 'trouble') return errorOf(move.what);
    if (move.kind === 'silence') return { kind: 'hang' };
    const usage = move.tokens ?? USUAL_TOKENS;
    booked.push({ task: about.task, ...usage });
    return { kind: 'items', items: [itemOf(move)], usage };
  });
  return { ...server, sent: booked };
}

function itemOf(move: Extract<Move, { kind: 'write' | 'run' | 'ask' | 'result' }>): ResponsesItem {
  if (move.kind === 'ask') return { kind: 'call', tool: move.tool, input: move.input, namespace: 'mcp__tidemill' };
  if (move.kind === 'run') return exec(move.command);
  if (move.kind === 'result') return answer(move.envelope);
  const lines = move.content.trimEnd().split('\n');
  return patch(`*** Add File: ${move.file}`, ...lines.map((line) => `+${line}`));
}

function errorOf(what: Trouble): ResponsesTurn {
  const limited = (error: object): ResponsesTurn => ({ kind: 'error', status: 429, body: { error } });
  if (what === 'credit')
    return limited({ code: 'insufficient_quota', type: 'insufficient_quota', message: 'no quota' });
  if (typeof what === 'object' && 'limitedUntil' in what)
    return limited({ type: 'usage_limit_reached', message: 'limit', plan_type: 'plus', resets_at: what.limitedUntil });
  if (typeof what === 'object') {
    const message = `Rate limit reached for requests. Please try again in ${what.rateLimitSeconds}s.`;
    return { kind: 'failed', code: 'rate_limit_exceeded', message };
  }
  if (what === 'too_long') return { kind: 'failed', code: 'context_length_exceeded', message: 'too long' };
  return { kind: 'error', status: what === 'auth' ? 401 : 500 };
}

function toldInInput({ body }: ResponsesRequest): Told {
  return {
    entries: body.input.flatMap(({ role, content, output }): Told['entries'] => {
      if (output !== undefined) return [{ kind: 'tool', text: JSON.stringify(output) }];
      if (role === undefined || role === 'assistant') return [];
      if (typeof content === 'string') return [{ kind: 'words', text: content }];
      return (content as { text?: string }[]).map(({ text = '' }) => ({ kind: 'words', text }));
    }),
  };
}
