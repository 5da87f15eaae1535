import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, type Caller, callerKey, type RouteName, routes } from '@tidemill/contract';
import type { Call, Services } from '../handlers/context.ts';
import { callHandler } from '../handlers/index.ts';
import { prometheusText } from '../handlers/project/metrics.ts';
import { checkRole } from '../handlers/role.ts';
import { readBody, refuseNul } from './body.ts';
import { checkCaller, checkHost, isWelcome } from './caller-check.ts';
import type { GithubHooks } from './github-hook.ts';
import { type IdempotentResponses, keyOf } from './idempotency.ts';
import type { Listener } from './listener.ts';
import { answerPage } from './page.ts';
import { nextLink } from './paging.ts';
import { send, sendJson, sendStream, sendText } from './response.ts';
import { matchRoute } from './router.ts';

export type AnswerMcp = (request: IncomingMessage, response: ServerResponse, caller: Caller) => Promise<void>;

/** Shared by all requests. */
export interface RequestContext {
  services(): Services;
  repeats: IdempotentResponses;
  hooks: GithubHooks;
  /** Running calls, aborted when the daemon stops. */
  calls: Set<AbortController>;
  /** Answers a request of the Model Context Protocol. */
  mcp: AnswerMcp;
  /** Called for changes whose events do not name the caller. */
  onChange(text: string): void;
}

export async function answer(
  context: RequestContext,
  door: Listener,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  checkHost(request, door);
  const url = addressOf(request);
  if (await context.hooks.answer(context.services, request, response, url.pathname)) return;
  if (await answerPage(request, response, url, door)) return;
  const caller = await checkCaller(request, door);
  if (url.pathname === '/mcp') return context.mcp(request, response, caller);
  if (caller.run) checkRole(caller, routes.health, `${request.method} ${url.pathname}`);
  if (request.method === 'GET' && (url.pathname === '/openapi.json' || url.pathname === '/docs')) {
    // Loaded here: few ask for it, and it goes through the whole contract.
    const { answerReference } = await import('./reference.ts');
    return answerReference(request, response, url, door, context.services().machine.daemon?.version ?? '');
  }
  if (url.pathname === '/metrics' && request.method === 'GET') {
    // In Prometheus' text format, not JSON.
    const { type, text } = await prometheusText(context.services());
    return sendText(response, type, text);
  }
  const { name, params } = matchRoute(request.method ?? 'GET', url.pathname);
  checkRole(caller, routes[name], `${request.method} ${routes[name].path}`);
  await answerRoute(context, { name, params, caller, url, door }, request, response);
}

interface RouteCall {
  name: RouteName;
  params: Record<string, string>;
  caller: Caller;
  url: URL;
  door: Listener;
}

async function answerRoute(
  context: RequestContext,
  call: RouteCall,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const abort = new AbortController();
  context.calls.add(abort);
  response.on('close', () => {
    context.calls.delete(abort);
    if (!response.writableFinished) abort.abort();
  });
  const handle = routes[call.name].method === 'GET' ? answerRead : answerWrite;
  await handle(context, call, abort.signal, request, response);
}

async function answerRead(
  context: RequestContext,
  { name, params, caller, url, door }: RouteCall,
  signal: AbortSignal,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { stream, role } = routes[name];
  const isSse = stream && (request.headers.accept?.includes('text/event-stream') ?? false);
  const input = { ...Object.fromEntries(url.searchParams), ...(isSse ? lastSeen(name, request) : {}), ...params };
  refuseNul(input);
  if (stream) door.seats.open(response, caller);
  const result = await callHandler(context.services(), name, input, { signal, caller });
  if (stream) {
    const follower = { isSse, signal, isWelcome: () => isWelcome(request, door, role) };
    return sendStream(response, result as AsyncIterable<unknown>, follower);
  }
  const link = nextLink(name, input, url, result);
  send(response, 200, result, link === null ? {} : { link });
}

async function answerWrite(
  context: RequestContext,
  { name, params, caller, url }: RouteCall,
  signal: AbortSignal,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method } = routes[name];
  refuseNul(params);
  const body = await readBody(request);
  const key = method === 'POST' ? keyOf(request.headers['idempotency-key']) : null;
  const details: Call = { signal, caller, ...(key === null ? {} : { idempotencyKey: key }) };
  const act = () => callHandler(context.services(), name, { ...body.value, ...params }, details);
  if (caller.name !== null && !isSigned(name)) context.onChange(`${caller.name}: ${method} ${url.pathname}`);
  if (key === null || ownsItsKeys(name)) return send(response, 200, await act());
  // Not aborted when the first caller disconnects, because a repeated request may wait for the response.
  details.signal = new AbortController().signal;
  const text = async () => JSON.stringify(await act());
  const print = `${url.pathname}\n${body.text}`;
  sendJson(response, 200, await context.repeats.once({ caller: callerKey(caller), key }, print, text));
}

/** Its event names the caller, or it is a read or a worker's own call. */
const isSigned = (name: RouteName) =>
  'by' in routes[name].input.shape || routes[name].role === 'viewer' || routes[name].role === 'worker';

/** A reconnecting EventSource sends the id of the last event, which is its `seq`. */
function lastSeen(name: RouteName, { headers }: IncomingMessage): { after?: string } {
  const id = headers['last-event-id'];
  return name === 'events' && typeof id === 'string' && id !== '' ? { after: id } : {};
}

/** These store the key with what they create, which also works across restarts. */
const ownsItsKeys = (name: RouteName) => name === 'addTask' || name === 'importTasks';

function addressOf(request: IncomingMessage): URL {
  const base = 'http://daemon';
  const given = request.url ?? '/';
  const url = given.startsWith('/') ? URL.parse(given, base) : null;
  if (url) return url;
  throw new AppError('bad_input', `"${given}" is not a valid address`);
}
