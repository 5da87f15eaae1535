import {
  type ModelRequest,
  type ModelServer,
  openEventStream,
  type Script,
  sendJson,
  startModelServer,
  turnOf,
} from './http.ts';

// A model that follows a test's script, behind the OpenAI Responses stream (`POST /v1/responses`).

export interface ResponsesBody {
  model: string;
  input: { type?: string; role?: string; call_id?: string; output?: unknown; content?: unknown }[];
  tools?: { type: string; name?: string }[];
  text?: { format?: { type: string; strict?: boolean; schema?: unknown } };
}

export type ResponsesRequest = ModelRequest<ResponsesBody>;

/**
 * One thing the model says or does. `custom` is a tool that takes text instead of JSON, such as apply_patch. `namespace` is
 * an MCP server's.
 */
export type ResponsesItem =
  | { kind: 'message'; text: string }
  | { kind: 'call'; tool: string; input: Record<string, unknown>; namespace?: string }
  | { kind: 'custom'; tool: string; input: string };

interface Counts {
  input: number;
  cached: number;
  output: number;
}

/** How one request is answered. */
export type ResponsesTurn =
  | { kind: 'items'; items: ResponsesItem[]; usage?: Counts; pauseMs?: number }
  | { kind: 'error'; status: number; body?: unknown; headers?: Record<string, string> }
  /** The stream ends with `response.failed`. */
  | { kind: 'failed'; code: string; message: string }
  /** The connection breaks in the middle of the first item. */
  | { kind: 'cut'; items: ResponsesItem[] }
  /** The answer begins and never ends: the client has to disconnect. */
  | { kind: 'hang' };

export interface ResponsesServer extends ModelServer<ResponsesBody> {
  /** The total usage of completed answers; the recorded usage must match it. */
  sent: Counts & { answers: number };
}

export const turn = (...items: ResponsesItem[]): ResponsesTurn => ({ kind: 'items', items });
export const say = (text: string): ResponsesItem => ({ kind: 'message', text });
export const answer = (value: unknown): ResponsesItem => say(JSON.stringify(value));
export const exec = (cmd: string): ResponsesItem => ({ kind: 'call', tool: 'exec_command', input: { cmd } });
export const patch = (...lines: string[]): ResponsesItem => ({
  kind: 'custom',
  tool: 'apply_patch',
  input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n'),
});

/** How newer models use tools: a program in which `tools` holds them. */
export const program = (input: string): ResponsesItem => ({ kind: 'custom', tool: 'exec', input });

const USUAL: Counts = { input: 100, cached: 20, output: 10 };

export async function startResponsesServer(script: Script<ResponsesTurn, ResponsesBody>): Promise<ResponsesServer> {
  const sent = { input: 0, cached: 0, output: 0, answers: 0 };
  const server = await startModelServer<ResponsesBody>({
    takes: ({ method, path }) => method === 'POST' && path.split('?')[0] === '/v1/responses',
    async answer(request, response) {
      const reply = await turnOf(script, request);
      if (reply.kind === 'error') {
        const body = reply.body ?? { error: { message: `scripted ${reply.status}` } };
        return sendJson(response, reply.status, body, reply.headers);
      }
      await stream(openEventStream(response), reply, (usage) => {
        sent.input += usage.input;
        sent.cached += usage.cached;
        sent.output += usage.output;
        sent.answers += 1;
      });
    },
  });
  return Object.assign(server, { sent });
}

async function stream(
  out: ReturnType<typeof openEventStream>,
  reply: Exclude<ResponsesTurn, { kind: 'error' }>,
  book: (usage: Counts) => void,
): Promise<void> {
  const id = `resp_${crypto.randomUUID()}`;
  const send = (type: string, more: object) => out.send(type, { type, ...more });
  await send('response.created', { response: { id } });
  if (reply.kind === 'hang') return;
  if (reply.kind === 'failed') {
    await send('response.failed', { response: { id, error: { code: reply.code, message: reply.message } } });
    return out.end();
  }
  for (const item of reply.items.map(onTheWire)) {
    await send('response.output_item.added', { item });
    if (reply.kind === 'cut') return out.cut();
    if (reply.pauseMs) await new Promise((resolve) => setTimeout(resolve, reply.pauseMs));
    await send('response.output_item.done', { item });
  }
  if (reply.kind === 'cut') return out.cut();
  const usage = reply.usage ?? USUAL;
  book(usage);
  await send('response.completed', {
    response: {
      id,
      usage: {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: usage.cached },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.input + usage.output,
      },
    },
  });
  out.end();
}

function onTheWire(item: ResponsesItem): Record<string, unknown> {
  const id = crypto.randomUUID();
  switch (item.kind) {
    case 'message': {
      const content = [{ type: 'output_text', text: item.text, annotations: [] }];
      return { type: 'message', role: 'assistant', id: `msg_${id}`, content };
    }
    case 'call': {
      const call = {
        id: `fc_${id}`,
        call_id: `call_${id}`,
        name: item.tool,
        ...(item.namespace && { namespace: item.namespace }),
      };
      return { type: 'function_call', ...call, arguments: JSON.stringify(item.input) };
    }
    case 'custom':
      return { type: 'custom_tool_call', id: `ctc_${id}`, call_id: `call_${id}`, name: item.tool, input: item.input };
  }
}

/** The outputs of the tools so far, as the model got them. */
export const toolOutputs = (request: ResponsesRequest): string[] =>
  request.body.input.flatMap(({ output }) =>
    output === undefined ? [] : [typeof output === 'string' ? output : JSON.stringify(output)],
  );
