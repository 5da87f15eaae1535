import { z } from 'zod';
import type { AccessRole } from '../access.ts';

declare global {
  /** Declared here so that core, which knows neither browser nor Node, can read the types; both fill it in. */
  interface AbortSignal {}
}

/**
 * One request of the API as data. `input` is one object: names in the path come from it, the rest travels as query or
 * body.
 */
export interface Route<I extends z.ZodType, O extends z.ZodType, S extends boolean> {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /** What it does, in a sentence: the API's own document shows it. */
  summary: string;
  input: I;
  output: O;
  /** The answer is a sequence of `output`, one JSON object per line. */
  stream: S;
  /** The least a caller must be. */
  role: AccessRole;
  /** For lists that go on: the last item's `field` is the next request's `cursor`. */
  page?: { cursor: string; field: string };
}

const route =
  <S extends boolean>(method: 'GET' | 'POST' | 'PUT', stream: S, role: AccessRole) =>
  <I extends z.ZodType, O extends z.ZodType>(
    path: string,
    summary: string,
    input: I,
    output: O,
    more: { role?: AccessRole; page?: { cursor: string; field: string } } = {},
  ): Route<I, O, S> => ({ method, path, summary, input, output, stream, role, ...more });

export const get = route('GET', false, 'viewer');
export const post = route('POST', false, 'operator');
export const put = route('PUT', false, 'operator');
export const stream = route('GET', true, 'viewer');

/** What arrives in a path or a query is text. */
export const count = () => z.coerce.number<number>().int().nonnegative();
export const flag = () =>
  z.preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean()).default(false);
export const words = () =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? value.split(',').filter((word) => word !== '') : value),
      z.array(z.string()),
    )
    .optional();

export const project = z.string().min(1);
/** A number (`12`, `#12`) or an id (`task_…`). */
export const task = z.coerce.string<string | number>().min(1);
export const ofTask = { project, task };
export const note = z.string().trim().max(20_000);
/** Who asks, for the record. A caller with a named token is that name, whatever is written here. */
export const by = z.string().trim().min(1).max(100).default('person');
/** `agent-1`, `agent-1@host` where several hosts have one, or `all`. */
export const worker = z.string().min(1).max(100);
/** How much of a text is wanted; it is cut there, and says so. */
export const maxBytes = (most: number) => count().min(1).max(most).default(Math.min(most, 1_000_000));
