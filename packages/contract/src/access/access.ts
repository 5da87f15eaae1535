import { z } from 'zod';
import { recordKind } from '../record/kind.ts';
import { Mode } from '../run/run.ts';
import { type Actor, personActor } from './actor.ts';

/**
 * Who may do what. A viewer reads; an operator also controls work and answers questions; an admin also changes settings,
 * tokens and the daemon itself. A worker reads, claims work and delivers it; it controls nothing. An agent reads, adds and
 * proposes; it decides nothing.
 */
export const AccessRole = z.enum(['viewer', 'operator', 'admin', 'worker', 'agent']);
export type AccessRole = z.infer<typeof AccessRole>;

const INCLUDES: Record<AccessRole, AccessRole[]> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator', 'agent'],
  admin: ['viewer', 'operator', 'admin', 'worker', 'agent'],
  worker: ['viewer', 'worker'],
  agent: ['viewer', 'agent'],
};
export const mayAct = (role: AccessRole, needed: AccessRole) => INCLUDES[role].includes(needed);

export const TokenName = z
  .string()
  .regex(/^[a-z][a-z0-9_.-]{0,49}$/i, 'a token name is a letter, then letters, digits, ., - and _, at most 50');

/** A token that a person created. The token itself is shown once; only its hash is stored. */
export const NamedToken = z.object({
  name: TokenName,
  role: AccessRole,
  createdAt: z.number(),
  lastUsedAt: z.number().nullable(),
});
export type NamedToken = z.infer<typeof NamedToken>;

/** The stored form: a record that belongs to no project. */
export const Token = NamedToken.extend({
  noun: z.literal('token'),
  /** By `tokenId`. */
  id: z.string(),
  projectId: z.string(),
  hash: z.string(),
  revokedAt: z.number().nullable(),
});
export type Token = z.infer<typeof Token>;
/** Names that differ only by case count as equal: people would confuse them. */
export const tokenId = (name: string) => `token/${name.toLowerCase()}`;
/** It is found by its hash. */
export const tokenKind = recordKind(Token, ({ hash, revokedAt }) => ({
  parent: hash,
  isOpen: revokedAt === null,
  dueAt: null,
}));

/** The run that a token was made for. Such a token works while its agent runs, and only for MCP. */
export const RunBinding = z.object({
  runId: z.string(),
  projectId: z.string(),
  /** The subject of the run: a task's id, or another subject's. */
  subjectId: z.string(),
  /** Null for a run without a task. */
  taskNumber: z.number().nullable(),
  mode: Mode,
  /** As the run's record names it. */
  agent: z.string(),
  /** The folder it works in. */
  folder: z.string(),
});
export type RunBinding = z.infer<typeof RunBinding>;

/** Whose request it is. `name` is null for the daemon's own token, which any user who can read its file may use. */
export const Caller = z.object({
  name: z.string().nullable(),
  role: AccessRole,
  /** When its token was created. A later token of the same name is another caller. */
  since: z.number().optional(),
  /** Set for the agent of a run. */
  run: RunBinding.optional(),
  /** Set when an agent uses the token, and not the person: its name. Then nothing is decided with it. */
  agent: z.string().optional(),
});
export type Caller = z.infer<typeof Caller>;

/** The header by which a program says that an agent uses it. It takes rights away and gives none. */
export const AGENT_HEADER = 'tidemill-agent';
/** Identifies a caller; empty for the daemon's own token. */
export const callerKey = ({ name, since = 0 }: Caller) => (name === null ? '' : `${name}@${since}`);

/** A caller with a named token acts under that name, and an agent as itself, whatever the request says. */
export function actorOf(caller: Caller, said: string): Actor {
  if (caller.run) return { kind: 'agent', id: caller.run.runId, name: caller.run.agent };
  if (caller.agent !== undefined) return { kind: 'agent', id: `for ${callerKey(caller)}`, name: caller.agent };
  if (caller.role === 'agent') return { kind: 'agent', id: callerKey(caller), name: caller.name ?? said };
  return caller.name === null ? personActor(said) : { kind: 'token', id: callerKey(caller), name: caller.name };
}
