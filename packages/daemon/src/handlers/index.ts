import { type Api, AppError, actorOf, type Caller, type CallOptions, type RouteName, routes } from '@tidemill/contract';
import type { z } from 'zod';
import { conflictHandlers } from './conflict/index.ts';
import type { Call, Services } from './context.ts';
import { daemonHandlers } from './daemon/index.ts';
import { deliveryHandlers } from './delivery/index.ts';
import { type Executed, executeRoute } from './execute.ts';
import { feedbackHandlers } from './feedback/index.ts';
import { guardHandlers } from './guard/index.ts';
import type { CommandRoute, Handler } from './handler.ts';
import { ideaHandlers } from './idea/index.ts';
import { inboxHandlers } from './inbox/index.ts';
import { lessonHandlers } from './lesson/index.ts';
import { loopHandlers } from './loop/index.ts';
import { projectHandlers } from './project/index.ts';
import { promptChangeHandlers } from './prompt-change/index.ts';
import { questionHandlers } from './question/index.ts';
import { recordHandlers } from './record/index.ts';
import { reflectionHandlers } from './reflection/index.ts';
import { replayHandlers } from './replay/index.ts';
import { specHandlers } from './spec/index.ts';
import { taskHandlers } from './task/index.ts';
import { traceHandlers } from './trace/index.ts';
import { trackerHandlers } from './tracker/index.ts';
import { workerHandlers } from './worker/index.ts';

/** One function per route, by noun; routes that execute a command share `executeRoute`. */
const handlers: { [N in Exclude<RouteName, CommandRoute>]: Handler<N> } = {
  ...daemonHandlers,
  ...projectHandlers,
  ...taskHandlers,
  ...ideaHandlers,
  ...workerHandlers,
  ...conflictHandlers,
  ...questionHandlers,
  ...inboxHandlers,
  ...loopHandlers,
  ...lessonHandlers,
  ...replayHandlers,
  ...reflectionHandlers,
  ...promptChangeHandlers,
  ...guardHandlers,
  ...recordHandlers,
  ...deliveryHandlers,
  ...specHandlers,
  ...feedbackHandlers,
  ...traceHandlers,
  ...trackerHandlers,
};

type AnyHandler = (services: Services, input: unknown, signal: AbortSignal, call: Call) => unknown;

/** Parses the input and calls the handler. Used for network requests and for calls within the process. */
export async function callHandler(services: Services, name: RouteName, input: unknown, call: Call): Promise<unknown> {
  const parsed = routes[name].input.safeParse(input);
  if (!parsed.success) throw badInput(parsed.error);
  const given = signed(parsed.data as object, call.caller);
  const { executes } = routes[name] as { executes?: Executed };
  if (executes !== undefined) return executeRoute(services, executes, given);
  const handler = (handlers as Record<string, unknown>)[name] as AnyHandler;
  return handler(services, given, call.signal, call);
}

function signed(input: object, caller: Caller): object {
  return 'by' in input ? { ...input, by: actorOf(caller, String(input.by)) } : input;
}

/** A call within the process is made by the person who started it. */
export const OWNER: Caller = { name: null, role: 'admin' };

/** The API without a network, for a caller. Whether the caller may use a route is checked before, by `checkRole`. */
export function createLocalApi(services: Services, caller: Caller = OWNER): Api {
  const never = new AbortController().signal;
  const entries = (Object.keys(routes) as RouteName[]).map((name) => [
    name,
    routes[name].stream
      ? async function* (input: unknown, signal = never) {
          yield* (await callHandler(services, name, input, { signal, caller })) as AsyncIterable<unknown>;
        }
      : (input: unknown, signal = never, more: CallOptions = {}) =>
          callHandler(services, name, input, { signal, caller, ...more }),
  ]);
  return Object.fromEntries(entries) as Api;
}

/** Describes the problems of a request, one per line. */
export function badInput(error: z.ZodError): AppError {
  const lines = error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  return new AppError('bad_input', lines.slice(0, 5).join('\n'), {
    hint:
      lines.length > 5
        ? `${lines.length - 5} more like these. Correct them and try again.`
        : 'Correct it and try again.',
  });
}
