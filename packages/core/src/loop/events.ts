import { type Loop, loopId } from '@tidemill/contract';
import type { Happened, Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const loopEvents = {
  'loop.switched': (slice, { on, by }, happened) =>
    changeLoop(slice, happened, ({ paused }) => ({
      switched: { on, by, at: happened.at },
      paused: on ? null : paused,
      heldUntil: null,
    })),
  'loop.held': (slice, { until }, happened) => changeLoop(slice, happened, () => ({ heldUntil: until })),
  'loop.paused': (slice, { trigger, why }, happened) =>
    changeLoop(slice, happened, () => ({ paused: { trigger, why, at: happened.at } })),
  'proposal.checked': (slice, { number }, happened) =>
    changeLoop(slice, happened, () => ({ nextProposal: number + 1 })),
} satisfies Reductions;

function changeLoop(slice: Slice, { projectId }: Happened, change: (loop: Loop) => Partial<Loop>): void {
  const id = loopId(projectId);
  const known: Loop = slice.record('loop', id) ?? {
    noun: 'loop',
    id,
    projectId,
    switched: null,
    paused: null,
    heldUntil: null,
    nextProposal: 1,
  };
  slice.records.put({ ...known, ...change(known) });
}
