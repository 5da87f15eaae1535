import { personActor } from '@tidemill/contract';
import type { CommandOf } from '@tidemill/core';
import type { Draw } from './draw.ts';

const projectId = 'project_1';
const ofChange = (a: number) => ({ projectId, promptChangeId: `prompt_change_${a % 4}` });

export const promptChangeGenerators: {
  [T in 'prompt_change.propose' | 'prompt_change.judge' | 'prompt_change.decide']: (
    draw: Draw,
  ) => Omit<CommandOf<T>, 'type'>;
} = {
  'prompt_change.propose': ({ a, b }) => ({
    ...ofChange(a),
    change: {
      file: '.tidemill/agents/implement.md',
      before: 'old',
      text: b % 4 ? `new ${b % 3}` : 'old',
      why: '',
      replayId: null,
    },
    by: personActor('ada'),
  }),
  'prompt_change.judge': ({ a, b }) => ({
    ...ofChange(a),
    trial: { verdict: (['gain', 'harm', 'unclear'] as const)[b % 3]!, why: 'x' },
  }),
  'prompt_change.decide': ({ a, b }) => ({
    ...ofChange(a),
    status: (['applied', 'refused', 'rolled_back'] as const)[b % 3]!,
    why: '',
    baseline: b % 2 ? { good: 1, total: 2 } : null,
    by: personActor('ada'),
  }),
};
