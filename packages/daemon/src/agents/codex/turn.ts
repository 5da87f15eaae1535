import { StringDecoder } from 'node:string_decoder';
import { isReadOnly, type ProgressReport } from '@tidemill/contract';
import type { AgentRequest, AgentSink } from '../../ports.ts';
import { type ChildEnd, type ChildHost, startChild } from '../../process/child.ts';
import { programFolder } from '../../process/tools.ts';
import { type CodexEvent, createEventReader, describe } from './events.ts';
import { classify } from './failure.ts';
import type { GuardSocket } from './guard-socket.ts';
import type { CodexHome } from './home.ts';
import type { CodexProgress } from './progress.ts';
import type { SessionCosts } from './session-costs.ts';

export interface TurnSpec {
  host: ChildHost;
  program: string;
  request: AgentRequest;
  sink: AgentSink;
  home: CodexHome;
  env: Record<string, string>;
  writable: string[];
  guards: GuardSocket;
  costs: SessionCosts;
  progress: CodexProgress;
  signal: AbortSignal;
  resume: string | null;
  prompt: string;
  model: string;
  timeoutMs: number;
}

export interface TurnEnd {
  end: ChildEnd;
  session: string | null;
  /** The last message of the agent, which contains its result. Empty if there is none. */
  lastMessage: string;
  /** The error of the turn, as reported by Codex. */
  failure: string | null;
  lastWords: string;
  /** Whether the session was started or resumed. */
  hasBegun: boolean;
  /** Why Tidemill ended it. */
  ended: 'out_of_turns' | 'hopeless' | null;
}

const LAST_WORDS = 2000;
/** Codex records the cost of a request a little after it starts to act on the answer. */
const BOOK_EVERY_MS = 500;

/** Runs one `codex exec`: sends the prompt, reads events, reports its costs. */
export async function runTurn(spec: TurnSpec): Promise<TurnEnd> {
  const { request, sink, costs, progress } = spec;
  const own = new AbortController();
  progress.begin();
  const onStep = async () => {
    await costs.catchUp();
    tell(sink, progress.requests(costs.requests));
    if (costs.requests > request.maxTurns) own.abort('out_of_turns');
  };
  const heard = listen(spec, { onStep, onHopeless: () => own.abort('hopeless') });
  const child = startChild({
    host: spec.host,
    runId: request.runId,
    command: commandOf(spec),
    cwd: request.cwd,
    env: { ...environment(spec), CODEX_HOME: spec.home.path, TMPDIR: spec.home.tmp },
    stdin: spec.prompt,
    network: true,
    readOnlyWorktree: isReadOnly(request.brief.mode),
    readable: [...spec.home.readable, spec.guards.folder, ...(await ownPrograms(spec))],
    writable: [spec.home.path, ...spec.home.login, ...spec.writable],
    timeoutMs: Math.max(1, spec.timeoutMs),
    signal: AbortSignal.any([spec.signal, own.signal]),
    control: request.control,
    onOutput: (chunk, from) => (from === 'stdout' ? heard.reader.push(chunk) : heard.complaint(chunk)),
  });
  const books = setInterval(
    () => void onStep().catch((error: Error) => sink.output(`note: ${error.message}\n`)),
    BOOK_EVERY_MS,
  );
  const end = await child.end;
  clearInterval(books);
  heard.reader.end();
  await costs.catchUp();
  // A request that failed with an error costs nothing.
  if (heard.usage === null && heard.state.failure === null) costs.breakOff();
  if (heard.usage) costs.bookTurn(heard.usage, spec.resume !== null, spec.model);
  if (heard.state.failure !== null) sink.output(`failed: ${heard.state.failure}\n`);
  const ended = own.signal.aborted && !spec.signal.aborted ? (own.signal.reason as TurnEnd['ended']) : null;
  return { ...heard.state, end, ended, lastWords: heard.state.lastWords.trim().split('\n').slice(-8).join('\n') };
}

function tell(sink: AgentSink, report: ProgressReport | null): void {
  if (report) sink.progress(report);
}

function commandOf({ program, resume, home }: TurnSpec): string[] {
  // An agent may have damaged the worktree's git files. That must not prevent the next start.
  const options = ['--json', '--skip-git-repo-check', '--output-schema', home.schemaFile];
  const again = resume === null ? [] : ['resume', resume];
  return [program, 'exec', ...options, ...again, '-'];
}

/** Codex itself reads its key from CODEX_API_KEY unless a provider names another; and tells moments in local time. */
function environment({ env }: TurnSpec): Record<string, string> {
  const made: Record<string, string> = { ...env };
  if (process.env.TZ !== undefined) made.TZ ??= process.env.TZ;
  if (env.OPENAI_API_KEY !== undefined) made.CODEX_API_KEY ??= env.OPENAI_API_KEY;
  return made;
}

async function ownPrograms({ guards, host }: TurnSpec): Promise<string[]> {
  const folders = await Promise.all(
    [guards.program, process.execPath].map((file) => programFolder(file, host.dataDir)),
  );
  return folders.flat();
}

function listen(spec: TurnSpec, act: { onStep(): Promise<void>; onHopeless(): void }) {
  const { sink, request, guards } = spec;
  const askedBefore = guards.asked();
  const decoder = new StringDecoder('utf8');
  const state = {
    session: spec.resume,
    hasBegun: false,
    lastMessage: '',
    failure: null as string | null,
    lastWords: '',
  };
  const heard = { state, usage: null as Extract<CodexEvent, { type: 'turn.completed' }>['usage'] | null };
  let isWarned = false;
  const note = (event: CodexEvent) => {
    if (event.type === 'thread.started') {
      state.session = event.thread_id;
      state.hasBegun = true;
      sink.session(event.thread_id);
    } else if (event.type === 'turn.failed') state.failure = event.error.message;
    else if (event.type === 'turn.completed') heard.usage = event.usage;
    else if (event.type === 'error' && isHopeless(event.message)) {
      state.failure = /\((.*)\)$/s.exec(event.message)?.[1] ?? event.message;
      act.onHopeless();
    } else if (event.type === 'item.completed' && event.item.type === 'agent_message')
      state.lastMessage = event.item.text;
    const isToolUse = event.type === 'item.started' && ['command_execution', 'file_change'].includes(event.item.type);
    if (isToolUse && guards.asked() === askedBefore && !isWarned) {
      isWarned = true;
      sink.output('note: this Codex does not ask the guards; the sandbox and the gates hold alone\n');
    }
  };
  const reader = createEventReader(
    (event) => {
      note(event);
      tell(sink, spec.progress.take(event));
      if (event.type !== 'turn.failed') sink.output(describe(event, request.cwd));
      if (event.type.startsWith('item.')) act.onStep().catch((error: Error) => sink.output(`note: ${error.message}\n`));
    },
    (text) => sink.output(text),
  );
  const complaint = (chunk: Buffer) => {
    const text = decoder.write(chunk);
    state.lastWords = (state.lastWords + text).slice(-LAST_WORDS);
    sink.output(text);
  };
  return Object.assign(heard, { reader, complaint });
}

/**
 * Codex retries by itself and may wait for hours. For these failures Tidemill waits instead and does other work
 * meanwhile.
 */
function isHopeless(message: string): boolean {
  if (!message.startsWith('Reconnecting')) return false;
  const failure = classify(message);
  return failure === 'rate_limit' || failure === 'auth' || failure === 'credit';
}
