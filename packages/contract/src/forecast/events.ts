import { z } from 'zod';
import { event, mill, ofTask } from '../event/define.ts';
import { ComingConflict, comingFiles, comingWith } from './forecast.ts';

const stale = ['task', 'conflicts'];
/** The other side; both null for the target. */
const other = { otherId: z.string().nullable(), otherNumber: z.number().nullable() };

/** Of two tasks, each gets its own event. */
export const forecastEvents = [
  event(
    'forecast.found',
    { ...ofTask, ...other, ...ComingConflict.omit({ taskId: true, number: true, since: true }).shape },
    {
      stale,
      says: (body) =>
        mill(`foresees a conflict with ${comingWith({ number: body.otherNumber })}: ${comingFiles(body)}`),
    },
  ),
  event(
    'forecast.cleared',
    { ...ofTask, ...other },
    {
      stale,
      says: ({ otherNumber }) => mill(`no longer foresees a conflict with ${comingWith({ number: otherNumber })}`),
    },
  ),
] as const;
