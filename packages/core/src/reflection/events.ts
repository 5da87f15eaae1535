import type { Reflection } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';
import { changeTask } from '../task-row.ts';

export const reflectionEvents = {
  'reflection.requested': (slice, { reflection }) => slice.records.put(reflection),
  'reflection.answered': (slice, { reflectionId, result }) =>
    change(slice, reflectionId, { result, status: 'preventing' }),
  'reflection.prevented': (slice, { reflectionId, prevention, writtenIn: runId }) =>
    change(slice, reflectionId, { prevention, runId, status: 'prevented' }),
  'reflection.ended': (slice, { type, reflectionId, status, outcome, lessonId, taskId, lastAttempt }, { at }) => {
    change(slice, reflectionId, { status, outcome, lessonId, endedAt: at });
    if (taskId === null || lastAttempt === null) return;
    const entry = { runId: null, source: 'engine' as const, entryType: 'last_attempt', summary: lastAttempt, at };
    changeTask(slice, { type, taskId }, ({ context }) => ({
      context: [...context.filter(({ entryType }) => entryType !== 'last_attempt'), entry],
    }));
  },
} satisfies Reductions;

function change(slice: Slice, reflectionId: string, changed: Partial<Reflection>): void {
  const reflection = slice.record('reflection', reflectionId);
  if (reflection) slice.records.put({ ...reflection, ...changed });
}
