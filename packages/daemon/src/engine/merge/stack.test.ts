import { expect, test } from 'vitest';
import { type Layer, workOf } from './stack.ts';

const layer = (number: number): Layer =>
  ({
    member: { task: { number, validate: `./check ${number}`, approvedPulls: [`workflows w${number}`] } },
    ...{ tree: `tree${number}`, trial: `commit${number}`, files: ['shared.ts', `own${number}.ts`] },
  }) as unknown as Layer;

test('a layer is proven with the files, the commands and the agreed workflow files of all tasks below it, and none above', () => {
  const stack = { base: 'base', layers: [1, 2, 3].map(layer) };
  expect(workOf(stack, 2)).toEqual({
    ...{ base: 'base', commit: 'commit2', tree: 'tree2', files: ['shared.ts', 'own1.ts', 'own2.ts'] },
    agreed: ['w1', 'w2'],
    own: [
      { name: 'validate #1', run: './check 1' },
      { name: 'validate #2', run: './check 2' },
    ],
  });
});
