import { z } from 'zod';
import { count, get, project } from '../api/route.ts';
import { ReflectionView } from './reflection.ts';

export const reflectionRoutes = {
  reflections: get(
    '/v1/projects/:project/reflections',
    'What was asked after tasks and specifications that did not go as planned, newest first',
    z.strictObject({ project, limit: count().min(1).max(1000).default(50) }),
    z.array(ReflectionView),
    {
      cli: {
        usage: 'memory reflections',
        about: 'show what went otherwise than planned, which assumption failed, and what came of it',
        options: { limit: '<number> how many (default: 50)' },
      },
    },
  ),
};
