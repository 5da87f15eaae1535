import type { ComingConflict } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import { changeTask } from '../task-row.ts';

export const forecastEvents = {
  'forecast.found': (slice, body, { at }) =>
    changeTask(slice, body, ({ forecast }) => {
      const { otherId: taskId, otherNumber: number, files, fileCount, size, otherSize } = body;
      const since = forecast.find((entry) => entry.taskId === taskId)?.since ?? at;
      return { forecast: [...without(forecast, taskId), { taskId, number, files, fileCount, since, size, otherSize }] };
    }),
  'forecast.cleared': (slice, body) =>
    changeTask(slice, body, ({ forecast }) => ({ forecast: without(forecast, body.otherId) })),
  // It has no change any more that could conflict. The engine removes the entries of the other tasks.
  'task.moved': (slice, body) =>
    changeTask(slice, body, ({ forecast }) =>
      forecast.length > 0 && (body.to === 'done' || body.to === 'cancelled') ? { forecast: [] } : null,
    ),
  'conflict.aborted': (slice, body) => changeTask(slice, body, () => ({ forecast: [] })),
} satisfies Reductions;

const without = (forecast: ComingConflict[], taskId: string | null) =>
  forecast.filter((entry) => entry.taskId !== taskId);
