import { z } from 'zod';
import type { AccessRole } from '../access/access.ts';

declare global {
  /** Declared here because core has neither browser nor Node types; both provide it. */
  interface AbortSignal {}
}

/**
 * One request of the API as data. `input` is one object: path parameters come from it, the rest is sent as query or
 * body.
 */
export interface Route<I extends z.ZodType, O extends z.ZodType, S extends boolean> {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /** What it does, in a sentence. The API's OpenAPI document shows it. */
  summary: string;
  input: I;
  output: O;
  /** The response is a sequence of `output`, one JSON object per line. */
  stream: S;
  /** The minimum role of a caller. */
  role: AccessRole;
  /** Only a person may do it. An agent reads, adds and proposes. */
  decides: boolean;
  /** For paged lists: the last item's `field` is the next request's `cursor`. */
  page?: { cursor: string; field: string };
}

interface Traits {
  role?: AccessRole;
  page?: { cursor: string; field: string };
}

const reading =
  <S extends boolean>(stream: S) =>
  <I extends z.ZodType, O extends z.ZodType>(
    path: string,
    summary: string,
    input: I,
    output: O,
    more: Traits = {},
  ): Route<I, O, S> => ({
    method: 'GET',
    path,
    summary,
    input,
    output,
    stream,
    role: 'viewer',
    decides: false,
    ...more,
  });

/** A route that changes something must say whether that is a person's decision. */
const changing =
  (method: 'POST' | 'PUT') =>
  <I extends z.ZodType, O extends z.ZodType>(
    path: string,
    summary: string,
    input: I,
    output: O,
    more: { decides: boolean; role?: AccessRole },
  ): Route<I, O, false> => ({
    ...{ method, path, summary, input, output, stream: false },
    ...{ role: more.decides ? 'operator' : 'agent', ...more },
  });

export const get = reading(false);
export const post = changing('POST');
export const put = changing('PUT');
export const stream = reading(true);

/** Values in a path or a query are text. */
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
/** Who makes the request. For a caller with a named token, that name is used instead. */
export const by = z.string().trim().min(1).max(100).default('person');
/** `agent-1`, `agent-1@host` where several hosts have one, or `all`. */
export const worker = z.string().min(1).max(100);
/** The maximum length of a text; a longer one is cut and marked. */
export const maxBytes = (most: number) => count().min(1).max(most).default(Math.min(most, 1_000_000));
