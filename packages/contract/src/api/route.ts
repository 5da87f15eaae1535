import { z } from 'zod';
import type { AccessRole } from '../access/access.ts';

declare global {
  /** Declared here because core has neither browser nor Node types; both provide it. */
  interface AbortSignal {}
}

/**
 * One operation as data. `input` is one object: path parameters come from it, the rest is sent as query or body. The HTTP
 * route, the typed client, the API's document, and where a row says so the command and the MCP tool follow from it.
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
  /** The command of core that it executes; then it needs no handler. */
  executes?: string;
  /** How the command line offers it; several commands may be one operation. */
  cli?: CliOffer<z.output<O>> | CliOffer<z.output<O>>[];
  mcp?: McpOffer<z.output<O>>;
}

/** A command of the command line. Its options have the form that the schema of their field asks for. */
export interface CliOffer<Output> {
  /** Words and arguments; arguments are fields of the input: `loop score <proposal> <score>`. */
  usage: string;
  /** What `--help` says: `score a proposal from 0 to 10`. */
  about: string;
  /** What docs/commands.md says, if that is more. */
  details?: string;
  /**
   * The meaning of each option, by the field of the input. It may begin with the name of its value, or with its own name:
   * `<reason> why it is refused`, `--file <glob> files it is about`, and for a fixed value `--everywhere=all in all projects`.
   * Arguments have their meaning here, too.
   */
  options?: Record<string, string>;
  /** Options that this command needs although the request does not. */
  needs?: string[];
  /** Inputs that the command itself stands for: `loop on` is `{ on: true }`. */
  sets?: Record<string, unknown>;
  /** It runs when only the word before its own is given. */
  isDefault?: boolean;
  examples?: string[];
  /** The part of the response that it shows and prints as JSON. */
  picks?(output: Output): unknown;
  /** What a person reads; without it, and without a view of the daemon's, the fields. */
  says?(output: Output): string | string[];
}

/** A tool of the MCP server, with the input of the route. `everybody` includes the agents of runs. */
export interface McpOffer<Output> {
  tool: string;
  /** What the tool does, for a model. Default: the summary. */
  about?: string;
  for: 'everybody' | 'readers' | 'adders';
  /** `head` is our own words; `data` may be text of others. */
  says(output: Output): { head: string; data?: string };
}

interface Traits<O extends z.ZodType> {
  role?: AccessRole;
  page?: { cursor: string; field: string };
  cli?: CliOffer<z.output<O>> | CliOffer<z.output<O>>[];
  mcp?: McpOffer<z.output<O>>;
}

const reading =
  <S extends boolean>(stream: S) =>
  <I extends z.ZodType, O extends z.ZodType>(
    path: string,
    summary: string,
    input: I,
    output: O,
    more: Traits<O> = {},
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
interface Change<O extends z.ZodType> extends Traits<O> {
  decides: boolean;
}

const changing =
  (method: 'POST' | 'PUT') =>
  <I extends z.ZodType, O extends z.ZodType>(
    path: string,
    summary: string,
    input: I,
    output: O,
    more: Change<O>,
  ): Route<I, O, false> => ({
    ...{ method, path, summary, input, output, stream: false },
    ...{ role: more.decides ? 'operator' : 'agent', ...more },
  });

/** A request that executes one command of core: its fields are the input, with `projectId` and `taskId` for the names. */
export const command = <const C extends string, I extends z.ZodType, O extends z.ZodType>(
  executes: C,
  path: string,
  summary: string,
  input: I,
  output: O,
  more: Change<O> & { method?: 'POST' | 'PUT' },
): Route<I, O, false> & { executes: C } => {
  const { method = 'POST', ...traits } = more;
  return { ...changing(method)(path, summary, input, output, traits), executes };
};

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
