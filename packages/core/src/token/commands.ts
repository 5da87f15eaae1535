import { type AccessRole, type Actor, type Token, tokenId } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

/** Tokens belong to no project: `projectId` is that of all projects. */
export interface TokenCommands {
  'token.add': {
    name: string;
    role: AccessRole;
    hash: string;
    by: Actor;
    /** When it was created and last used, for a token from an older version. */
    createdAt?: number;
    lastUsedAt?: number | null;
  };
  'token.revoke': { name: string; by: Actor };
  'token.use': { name: string; hash: string };
}

const scope = ({ name }: { name: string }) => [look('record', tokenId(name))];

export const tokenCommands: CommandParts<keyof TokenCommands> = {
  'token.add': { scope, decide: addToken },
  'token.revoke': { scope, decide: revokeToken },
  'token.use': { scope, decide: useToken },
};

const valid = (slice: Slice, name: string): Token | null => {
  const token = slice.record('token', tokenId(name));
  return token && token.revokedAt === null ? token : null;
};

function addToken(slice: Slice, command: CommandOf<'token.add'>, env: DecideEnv): Decision {
  const { name, role, hash, by, createdAt = env.now, lastUsedAt = null } = command;
  const known = valid(slice, name);
  if (known?.hash === hash) return accept();
  if (known)
    return refuse(
      'conflict',
      `there is already a token named "${known.name}"`,
      `Choose another name, or revoke that one first: tidemill token revoke ${known.name}`,
    );
  return accept({ type: 'token.added', name, role, hash, createdAt, lastUsedAt, by });
}

function revokeToken(slice: Slice, { name, by }: CommandOf<'token.revoke'>): Decision {
  const known = valid(slice, name);
  if (!known) return refuse('not_found', `there is no token named "${name}"`);
  return accept({ type: 'token.revoked', name: known.name, by });
}

/** The token may have been replaced by another of the same name. */
function useToken(slice: Slice, { name, hash }: CommandOf<'token.use'>): Decision {
  return valid(slice, name)?.hash === hash ? accept({ type: 'token.used', name }) : accept();
}
