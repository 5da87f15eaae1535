import { z } from 'zod';
import { event, said } from '../event/define.ts';
import { AccessRole } from './access.ts';
import { Actor } from './actor.ts';

export const tokenEvents = [
  event(
    'token.added',
    {
      name: z.string(),
      role: AccessRole,
      /** A hash of the token. */
      hash: z.string(),
      createdAt: z.number(),
      lastUsedAt: z.number().nullable(),
      by: Actor,
    },
    { shown: 'log', says: ({ by, name, role }) => said(by, `created the token ${name} with the role ${role}`) },
  ),
  event(
    'token.revoked',
    { name: z.string(), by: Actor },
    { shown: 'log', says: ({ by, name }) => said(by, `revoked the token ${name}`) },
  ),
  event(
    'token.used',
    { name: z.string() },
    { isSignOfLife: true, shown: 'log', says: ({ name }) => said(name, 'used its token') },
  ),
] as const;
