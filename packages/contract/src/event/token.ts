import { z } from 'zod';
import { AccessRole } from '../access.ts';
import { Actor } from '../actor.ts';
import { event, said } from './event.ts';

export const tokenEvents = [
  event(
    'token.added',
    {
      name: z.string(),
      role: AccessRole,
      /** Of the token, which nobody could find from it. */
      hash: z.string(),
      createdAt: z.number(),
      lastUsedAt: z.number().nullable(),
      by: Actor,
    },
    { shown: 'log', says: ({ by, name, role }) => said(by, `made a token for ${name}, who may act as ${role}`) },
  ),
  event(
    'token.revoked',
    { name: z.string(), by: Actor },
    { shown: 'log', says: ({ by, name }) => said(by, `revoked the token of ${name}`) },
  ),
  event(
    'token.used',
    { name: z.string() },
    { isSignOfLife: true, shown: 'log', says: ({ name }) => said(name, 'used their token') },
  ),
] as const;
