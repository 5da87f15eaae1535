import type { ServerContext, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ToolReply } from './reply.ts';
import { AGENTS, type McpRole } from './roles.ts';
import type { Session } from './session.ts';

/** One call of a tool. */
export interface McpCall {
  session: Session;
  signal: AbortSignal;
  context: ServerContext;
  client: ClientAbilities;
  /** Seals what a tool must recognise when the client repeats the call with a person's answer. */
  seal(state: unknown): Promise<string>;
}

export interface ClientAbilities {
  /** The client shows forms to its person. */
  canAsk: boolean;
  /** The client knows the tasks extension: it polls for the end of long work. */
  knowsTasks: boolean;
}

export interface McpTool {
  name: string;
  aboutFor(role: McpRole): string;
  roles: readonly McpRole[];
  hintsFor(role: McpRole): ToolAnnotations;
  /** The input as a role sees it. */
  inputFor(role: McpRole): z.ZodObject;
  call(call: McpCall, input: object): Promise<ToolReply>;
}

type Shape = Record<string, z.ZodType>;
type Input<S extends Shape> = z.output<z.ZodObject<S>> & { projectRoot?: string | undefined };

const LOOKS = { readOnlyHint: true, openWorldHint: false } as const;
const CHANGES = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

/** For agents the project is known, and for everybody else it is the one of the folder. */
const projectRoot = z.string().max(4096).optional().describe('Folder of the project, if not the current one');

interface Traits<S extends Shape> {
  /** Who sees the tool. */
  roles: readonly McpRole[];
  /** The roles that change something with it. Clients ask their person before such a call. */
  changesFor?: readonly McpRole[];
  input: S;
  /** The input of a role that may do less. Default: all of it. */
  inputFor?(role: McpRole, all: S): Shape;
}

/** Checks the input by the role's own schema, so `call` can rely on the full one. */
export function tool<S extends Shape>(
  name: string,
  about: string | ((role: McpRole) => string),
  { roles, changesFor = [], input, inputFor = () => input }: Traits<S>,
  call: (call: McpCall, input: Input<S>) => Promise<ToolReply>,
): McpTool {
  return {
    name,
    aboutFor: (role) => (typeof about === 'string' ? about : about(role)),
    roles,
    hintsFor: (role) => (changesFor.includes(role) ? CHANGES : LOOKS),
    inputFor: (role) => z.strictObject({ ...inputFor(role, input), ...(AGENTS.includes(role) ? {} : { projectRoot }) }),
    call: (given, parsed) => call(given, parsed as Input<S>),
  };
}
