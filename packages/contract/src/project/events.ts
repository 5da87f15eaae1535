import { z } from 'zod';
import { counted, event, mill } from '../event/define.ts';
import { ProjectRules } from './project.ts';

export const projectEvents = [
  event(
    'project.registered',
    { name: z.string(), root: z.string(), rules: ProjectRules, firstCommit: z.string().nullable().default(null) },
    { stale: ['projects', 'config'], says: ({ name }) => mill(`registered the project ${name}`) },
  ),
  /** Its repository has another path now. */
  event(
    'project.moved',
    { root: z.string() },
    { stale: ['projects', 'config'], says: ({ root }) => mill(`found the repository at ${root}`) },
  ),
  event(
    'project.configured',
    { rules: ProjectRules },
    {
      stale: ['projects', 'config'],
      says: ({ rules }) => mill(`read the settings, ${counted(rules.gates.length, 'gate')}`),
    },
  ),
  /** Replaces an event of the log that cannot be read. It is never stored. */
  event(
    'log.unreadable',
    { taskId: z.string().nullable(), was: z.string(), why: z.string() },
    { says: ({ was, why }) => mill(`an event (${was}) cannot be read: ${why}`) },
  ),
] as const;
