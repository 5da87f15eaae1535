import type { Writable } from 'node:stream';
import { z } from 'zod';
import { createLines } from '../lines.ts';

/** A message can contain a whole file several times. */
const LONGEST_LINE = 64 * 1024 * 1024;

const ControlRequest = z.object({
  type: z.literal('control_request'),
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});
type ControlRequest = z.infer<typeof ControlRequest>;
const ControlResponse = z.object({
  type: z.literal('control_response'),
  response: z.discriminatedUnion('subtype', [
    z.object({
      subtype: z.literal('success'),
      request_id: z.string(),
      response: z.record(z.string(), z.unknown()).catch({}),
    }),
    z.object({ subtype: z.literal('error'), request_id: z.string(), error: z.string().catch('no reason given') }),
  ]),
});

const HookCallback = z.object({ callback_id: z.string(), input: z.unknown() });
const CanUseTool = z.object({ tool_name: z.string(), input: z.record(z.string(), z.unknown()) });
const McpMessage = z.object({ server_name: z.string(), message: z.unknown() });

export type ControlAnswer = Record<string, unknown>;

/** Who answers the requests of the program. A thrown error is a refusal. */
export interface ControlAnswers {
  hook(id: string, input: unknown): Promise<ControlAnswer>;
  permission(tool: string, input: Record<string, unknown>): Promise<ControlAnswer>;
  mcp(server: string, message: unknown): Promise<ControlAnswer | null>;
  /** All other messages: what the agent says and does, and what it costs. */
  message(raw: unknown): void;
  /** Output that is not a message. */
  noise(text: string): void;
}

/**
 * The lines of JSON between Claude Code and us (`--input-format stream-json`): messages, and requests in both
 * directions, each with its response.
 *
 *   us ──initialize, interrupt──▶ claude        claude ──hook_callback, can_use_tool, mcp_message──▶ us
 *
 * An error as the response to a hook would let the tool run. So every failure of ours is a refusal.
 */
export class ControlChannel {
  readonly #answers: ControlAnswers;
  readonly #lines = createLines(LONGEST_LINE, (line) => this.#take(line));
  readonly #pending = new Map<string, PromiseWithResolvers<ControlAnswer>>();
  #input: Writable | null = null;
  #waiting: string[] = [];
  #isEnded = false;
  #isClosed = false;

  constructor(answers: ControlAnswers) {
    this.#answers = answers;
  }

  /** Sets the program's standard input. Earlier messages wait for it. */
  connect(input: Writable): void {
    this.#input = input;
    for (const line of this.#waiting.splice(0)) input.write(line);
    if (this.#isEnded) input.end();
  }

  hear(chunk: Buffer): void {
    if (this.#lines.push(chunk) !== null) this.#answers.noise('[a message of more than 64 MB is left out]\n');
  }

  /** Sends a request to the program. Fails when the program refuses it, or ends without a response. */
  async ask(request: { subtype: string } & ControlAnswer): Promise<ControlAnswer> {
    if (this.#isClosed) throw new Error('Claude Code has ended');
    const request_id = crypto.randomUUID();
    const pending = Promise.withResolvers<ControlAnswer>();
    this.#pending.set(request_id, pending);
    this.#send({ type: 'control_request', request_id, request });
    return pending.promise;
  }

  /** Says something to the agent. `client_composed`: `@file` and `/command` in a task's text are only text. */
  say(content: string): void {
    const message = { role: 'user', content };
    this.#send({ type: 'user', message, parent_tool_use_id: null, client_composed: true });
  }

  /** No more messages: the program ends when it is done. */
  endInput(): void {
    this.#isEnded = true;
    this.#input?.end();
  }

  /** The program has ended. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#pending.values()) reject(new Error('Claude Code ended without a response'));
    this.#pending.clear();
  }

  #send(message: object): void {
    if (this.#isEnded || this.#isClosed) return;
    const line = `${JSON.stringify(message)}\n`;
    if (this.#input) this.#input.write(line);
    else this.#waiting.push(line);
  }

  #take(line: string): void {
    const raw = parseObject(line);
    if (!raw) {
      if (line.trim() !== '') this.#answers.noise(`${line}\n`);
      return;
    }
    if (raw.type === 'control_request') this.#serve(raw);
    else if (raw.type === 'control_response') this.#settle(raw);
    else this.#answers.message(raw);
  }

  /** A request without an id cannot be answered. A hook that gets no response denies. */
  #serve(raw: unknown): void {
    const request = ControlRequest.safeParse(raw);
    if (request.success) void this.#respond(request.data);
  }

  #settle(raw: unknown): void {
    const read = ControlResponse.safeParse(raw);
    if (!read.success) return;
    const { response } = read.data;
    const pending = this.#pending.get(response.request_id);
    this.#pending.delete(response.request_id);
    if (response.subtype === 'success') pending?.resolve(response.response);
    else pending?.reject(new Error(response.error));
  }

  async #respond({ request_id, request }: ControlRequest): Promise<void> {
    const response = await this.#answer(request).then(
      (answer) => ({ subtype: 'success', request_id, response: answer }),
      (error: Error) => ({ subtype: 'error', request_id, error: error.message }),
    );
    this.#send({ type: 'control_response', response });
  }

  async #answer(request: ControlRequest['request']): Promise<ControlAnswer> {
    const { hook, permission, mcp } = this.#answers;
    switch (request.subtype) {
      case 'hook_callback':
        return read(HookCallback, request)
          .then(({ callback_id, input }) => hook(callback_id, input))
          .catch(refusedTool);
      case 'can_use_tool':
        return read(CanUseTool, request)
          .then(({ tool_name, input }) => permission(tool_name, input))
          .catch(refusedUse);
      case 'mcp_message': {
        const { server_name, message } = await read(McpMessage, request);
        // Claude Code expects a response to a notification too.
        const answer = (await mcp(server_name, message)) ?? { jsonrpc: '2.0', id: 0, result: {} };
        return { mcp_response: answer };
      }
      default:
        throw new Error(`Tidemill does not answer ${request.subtype}`);
    }
  }
}

const why = (error: Error) => `This could not be decided, so it is refused: ${error.message}`;
const refusedUse = (error: Error): ControlAnswer => ({ behavior: 'deny', message: why(error) });
const refusedTool = (error: Error): ControlAnswer => ({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: why(error),
  },
});

/** A promise, so that an unreadable request is refused like any other failure. */
const read = async <Schema extends z.ZodType>(schema: Schema, raw: unknown): Promise<z.infer<Schema>> =>
  schema.parse(raw);

function parseObject(line: string): Record<string, unknown> | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null; // not a message: plain output
  }
}
