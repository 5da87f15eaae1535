import { type Token, tokenId } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const tokenEvents = {
  'token.added': (slice, { name, role, hash, createdAt, lastUsedAt }, { projectId }) =>
    slice.records.put({
      noun: 'token',
      id: tokenId(name),
      projectId,
      name,
      role,
      hash,
      createdAt,
      lastUsedAt,
      revokedAt: null,
    }),
  'token.revoked': (slice, { name }, { at }) => change(slice, name, { revokedAt: at }),
  'token.used': (slice, { name }, { at }) => change(slice, name, { lastUsedAt: at }),
} satisfies Reductions;

function change(slice: Slice, name: string, after: Partial<Token>): void {
  const token = slice.record('token', tokenId(name));
  if (token) slice.records.put({ ...token, ...after });
}
