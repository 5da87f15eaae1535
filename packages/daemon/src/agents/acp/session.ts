import type {
  ClientContext,
  InitializeResponse,
  McpServer,
  NewSessionResponse,
  SessionConfigOption,
} from '@agentclientprotocol/sdk';
import type { AgentRequest } from '../../ports.ts';
import { MCP_SERVER } from '../own-tools.ts';
import type { Transcript } from './transcript.ts';
import type { BookedCosts } from './usage.ts';

export interface SessionOptions {
  model: string | null;
}

interface Opening {
  agent: ClientContext;
  request: Pick<AgentRequest, 'cwd' | 'resume' | 'mcp'>;
  transcript: Transcript;
  booked: BookedCosts;
  options: SessionOptions;
}

/** `before`: the cost of the session so far, or null if unknown. */
export type OpenedSession = { id: string; before: number | null } | { unfit: string };

/** Modes in which an agent asks before it acts, by the names known agents give them. */
const ASKING_MODES = ['default', 'read-only', 'ask'];

/** Resumes the session of an earlier run if the agent supports it, otherwise starts a new one. */
export async function openSession(opening: Opening, hello: InitializeResponse): Promise<OpenedSession> {
  const resumed = await resume(opening, hello);
  const { agent, request, options, booked } = opening;
  const state =
    resumed ?? (await agent.request('session/new', { cwd: request.cwd, mcpServers: serversFor(request, hello) }));
  const id = state.sessionId;
  await askBeforeActing(agent, id, state);
  const unfit = options.model === null ? null : await chooseModel(agent, id, state, options.model);
  if (unfit !== null) return { unfit };
  return { id, before: resumed ? (booked.get(id) ?? null) : 0 };
}

/** Tidemill's own tools. A server is reached over HTTP only, which not every agent can. */
function serversFor({ mcp }: Opening['request'], { agentCapabilities }: InitializeResponse): McpServer[] {
  if (!mcp || !agentCapabilities?.mcpCapabilities?.http) return [];
  const headers = [{ name: 'Authorization', value: `Bearer ${mcp.token}` }];
  return [{ type: 'http', name: MCP_SERVER, url: mcp.url, headers }];
}

async function resume(opening: Opening, hello: InitializeResponse): Promise<NewSessionResponse | null> {
  const { agent, transcript, request } = opening;
  const { agentCapabilities } = hello;
  const { cwd, resume: sessionId } = request;
  const canResume = Boolean(agentCapabilities?.sessionCapabilities?.resume);
  if (sessionId === null || !(canResume || agentCapabilities?.loadSession)) return null;
  const method = canResume ? 'session/resume' : 'session/load';
  try {
    const state = await agent.request(method, { sessionId, cwd, mcpServers: serversFor(request, hello) });
    return { ...state, sessionId };
  } catch (error) {
    // The session's files may be gone. The prompt has everything for a new start.
    transcript.mute(false);
    transcript.note(`[session ${sessionId} cannot be resumed: ${(error as Error).message}]`);
    transcript.mute(true);
    return null;
  }
}

/** A person's settings may allow actions without permission. Here the guards must be asked. */
async function askBeforeActing(agent: ClientContext, sessionId: string, { modes }: NewSessionResponse): Promise<void> {
  const modeId = ASKING_MODES.find((mode) => modes?.availableModes.some(({ id }) => id === mode));
  if (modeId === undefined || modes?.currentModeId === modeId) return;
  await agent.request('session/set_mode', { sessionId, modeId });
}

/** Returns null when the model was selected, otherwise the reason why not. */
async function chooseModel(
  agent: ClientContext,
  sessionId: string,
  { configOptions }: NewSessionResponse,
  model: string,
): Promise<string | null> {
  const option = configOptions?.find(({ id, category }) => category === 'model' || id === 'model');
  if (option?.type !== 'select') return `the agent offers no choice of models; leave \`model: ${model}\` out`;
  if (option.currentValue === model) return null;
  const values = valuesOf(option);
  if (!values.includes(model)) return `the agent has no model ${model}; it has ${values.slice(0, 40).join(', ')}`;
  await agent.request('session/set_config_option', { sessionId, configId: option.id, value: model });
  return null;
}

function valuesOf(option: Extract<SessionConfigOption, { type: 'select' }>): string[] {
  return option.options.flatMap((entry) =>
    'value' in entry ? [entry.value] : entry.options.map(({ value }) => value),
  );
}
