import { z } from 'zod';
import { type Actor, personActor } from './actor.ts';
import { recordKind } from './record-kind.ts';

/**
 * Who may do what. A viewer looks; an operator also steers work and answers; an admin also changes settings, tokens and
 * the daemon itself. A worker looks, takes work and hands it in; it steers nothing.
 */
export const AccessRole = z.enum(['viewer', 'operator', 'admin', 'worker']);
export type AccessRole = z.infer<typeof AccessRole>;

const INCLUDES: Record<AccessRole, AccessRole[]> = {
  viewer: ['viewer'],
  operator: ['viewer', 'operator'],
  admin: ['viewer', 'operator', 'admin', 'worker'],
  worker: ['viewer', 'worker'],
};
export const mayAct = (role: AccessRole, needed: AccessRole) => INCLUDES[role].includes(needed);

export const TokenName = z
  .string()
  .regex(/^[a-z][a-z0-9_.-]{0,49}$/i, 'a token name is a letter, then letters, digits, ., - and _, at most 50');

/** A token that a person has given out. The token itself is shown once, and only its hash is kept. */
export const NamedToken = z.object({
  name: TokenName,
  role: AccessRole,
  createdAt: z.number(),
  lastUsedAt: z.number().nullable(),
});
export type NamedToken = z.infer<typeof NamedToken>;

/** As it is kept: a record that belongs to no project. */
export const Token = NamedToken.extend({
  noun: z.literal('token'),
  /** By `tokenId`. */
  id: z.string(),
  projectId: z.string(),
  hash: z.string(),
  revokedAt: z.number().nullable(),
});
export type Token = z.infer<typeof Token>;
/** Two names that differ by case only would be taken for one by people. */
export const tokenId = (name: string) => `token/${name.toLowerCase()}`;
/** It is found by its hash. */
export const tokenKind = recordKind(Token, ({ hash, revokedAt }) => ({
  parent: hash,
  isOpen: revokedAt === null,
  dueAt: null,
}));

/** Whose request it is. `name` is null for the daemon's own token: whoever may read it on this machine. */
export const Caller = z.object({
  name: z.string().nullable(),
  role: AccessRole,
  /** When its token was made. A later token of the same name is somebody else's. */
  since: z.number().optional(),
});
export type Caller = z.infer<typeof Caller>;
/** What tells two callers apart; empty for the daemon's own token. */
export const callerKey = ({ name, since = 0 }: Caller) => (name === null ? '' : `${name}@${since}`);

/** Somebody with a token of their own acts under its name, whatever the request says. */
export const actorOf = (caller: Caller, said: string): Actor =>
  caller.name === null ? personActor(said) : { kind: 'token', id: callerKey(caller), name: caller.name };
