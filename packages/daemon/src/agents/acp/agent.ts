import { setTimeout as delay } from 'node:timers/promises';
import type { ClientConnection, SessionNotification } from '@agentclientprotocol/sdk';
import { isReadOnly as isReadOnlyMode } from '@tidemill/contract';
import type { Agent, AgentEnd, AgentRequest, AgentSink } from '../../ports.ts';
import type { Child } from '../../process/child.ts';
import { beginSession } from '../session.ts';
import { converse } from './conversation.ts';
import { judge } from './ending.ts';
import { type AcpProgram, launch } from './launch.ts';
import { answerPermission } from './permission.ts';
import { createTranscript, type Transcript } from './transcript.ts';
import type { BookedCosts, Meter } from './usage.ts';
import { createWire, type Wire } from './wire.ts';

/** How long an agent may take to end its turn after a cancel, and to exit after the last message. */
const CANCEL_MS = 1000;
const LEAVE_MS = 300;
/** Time from the stop request to SIGKILL. */
const STOP_MS = 5000;

export interface AcpAgentOptions extends AcpProgram {
  label: string;
  model: string | undefined;
}

/**
 * Any program that speaks the Agent Client Protocol. Handles its permission requests, and prompts it until its result
 * is readable.
 */
export function createAcpAgent(options: AcpAgentOptions): Agent {
  const booked: BookedCosts = new Map();
  return {
    label: options.label,
    start: (request, sink) => beginSession((stopped) => run(options, request, sink, booked, stopped)),
  };
}

async function run(
  options: AcpAgentOptions,
  request: AgentRequest,
  sink: AgentSink,
  booked: BookedCosts,
  signal: AbortSignal,
): Promise<AgentEnd> {
  const isReadOnly = isReadOnlyMode(request.brief.mode);
  const kill = new AbortController();
  let fault: string | null = null;
  const transcript = createTranscript(sink, {
    onRequest: () => channel.onRequest(),
    onLimit: () => void channel.cancel(),
  });
  const wire = createWire({
    onNoise: (text) => transcript.note(text),
    onFault: (why) => {
      fault ??= why;
      kill.abort();
    },
  });
  const channel = await openChannel({ wire, request, sink, transcript, isReadOnly, signal });
  const { child, lastWords } = await launch(options, request, {
    wire,
    readOnlyWorktree: isReadOnly,
    graceMs: STOP_MS - CANCEL_MS,
    signal: kill.signal,
  });
  const ended = child.end.finally(() => wire.close());
  const stop = () => void stopPolitely(channel, kill);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();

  const { agent } = channel.connection;
  const talk = { agent, request, sink, transcript, booked, signal, options: { model: options.model ?? request.model } };
  const said = await converse({ ...talk, takeDenials: channel.takeDenials, onSession: channel.onSession }).catch(
    (error: unknown) => ({ error }),
  );
  await leave(wire, child);
  signal.removeEventListener('abort', stop);
  const end = await ended;
  if (end.kind === 'timeout') transcript.breakOff();
  return judge(said, end, {
    program: options.command[0] ?? '',
    install: options.preset ? `; \`${options.preset.install}\` installs it` : null,
    timeoutMs: request.timeoutMs,
    fault,
    isStopped: signal.aborted,
    words: lastWords(),
  });
}

interface Channel {
  connection: ClientConnection;
  takeDenials(): string[];
  onSession(session: string, meter: Meter): void;
  onRequest(): void;
  /** Asks the agent to end its turn. Resolves when the request was sent or failed. */
  cancel(): Promise<boolean>;
}

interface ChannelOptions {
  wire: Wire;
  request: AgentRequest;
  sink: AgentSink;
  transcript: Transcript;
  isReadOnly: boolean;
  signal: AbortSignal;
}

/** Our side of the protocol: receives updates and answers requests. */
async function openChannel(options: ChannelOptions): Promise<Channel> {
  const { wire, request, sink, transcript, isReadOnly, signal } = options;
  const { client } = await import('@agentclientprotocol/sdk'); // large, so it is loaded only for such agents
  const denials: string[] = [];
  let current: { session: string; meter: Meter } | null = null;
  const connection = client({ name: 'tidemill' })
    .onNotification('session/update', asNotification, ({ params }) => {
      if (!params) return;
      current?.meter.hear(params.update);
      try {
        transcript.take(params.update);
      } catch (error) {
        transcript.note(`[an update could not be read: ${(error as Error).message}]`);
      }
    })
    .onRequest('session/request_permission', async ({ params }) => {
      if (signal.aborted) return { outcome: { outcome: 'cancelled' } };
      const tool = transcript.tool(params.toolCall);
      const { response, denied } = await answerPermission({ params, tool, request, sink, isReadOnly });
      if (denied !== null) {
        denials.push(`${tool.title ?? tool.name ?? 'a tool'}: ${denied}`);
        transcript.note(`[denied] ${denied}`);
      }
      return response;
    })
    .onNotification('*', () => undefined)
    .connect(wire.stream);
  return {
    connection,
    takeDenials: () => denials.splice(0),
    onSession(session, meter) {
      current = { session, meter };
    },
    onRequest: () => current?.meter.request(),
    async cancel() {
      if (!current) return false;
      return connection.agent.notify('session/cancel', { sessionId: current.session }).then(
        () => true,
        () => false,
      );
    },
  };
}

/** Ignores messages that are not known updates: an agent may use a newer protocol. */
function asNotification(params: unknown): SessionNotification | null {
  const update = (params as { update?: { sessionUpdate?: unknown } } | null)?.update;
  return typeof update?.sessionUpdate === 'string' ? (params as SessionNotification) : null;
}

/** Cancels first, so that the agent ends its tools and reports its costs. Then the whole group is ended. */
async function stopPolitely(channel: Channel, kill: AbortController): Promise<void> {
  if (await channel.cancel()) await Promise.race([delay(CANCEL_MS), channel.connection.closed]);
  kill.abort();
}

async function leave(wire: Wire, child: Child): Promise<void> {
  wire.endInput();
  await Promise.race([child.end, delay(LEAVE_MS)]);
  await child.stop();
}
