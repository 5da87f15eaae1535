import type { PromptChange } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const promptChangeEvents = {
  'prompt_change.proposed': (slice, { change }) => slice.records.put(change),
  'prompt_change.judged': (slice, { promptChangeId, trial }) => put(slice, promptChangeId, { trial }),
  'prompt_change.decided': (slice, { promptChangeId, status, why, baseline, by }, { at }) =>
    put(slice, promptChangeId, {
      status,
      decidedBy: by,
      decidedWhy: why,
      decidedAt: at,
      ...(baseline ? { baseline } : {}),
    }),
} satisfies Reductions;

function put(slice: Slice, id: string, changed: Partial<PromptChange>): void {
  const change = slice.record('prompt_change', id);
  if (change) slice.records.put({ ...change, ...changed });
}
