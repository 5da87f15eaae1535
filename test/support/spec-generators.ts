import { personActor, SpecDraft, type SpecSource } from '@tidemill/contract';
import type { CommandOf, CommandType } from '@tidemill/core';
import { at, type Draw, projectId } from './draw.ts';

type SpecCommand = Extract<CommandType, `spec.${string}`>;

const specOf = (a: number) => ({ projectId, specId: `spec_${a % 4}` });
const specSource = (a: number): SpecSource => ({ kind: at(['text', 'initializer'], a), ideaId: null, text: 'x' });
const draftOf = (a: number): SpecDraft =>
  SpecDraft.parse({
    title: `Spec ${a}`,
    requirements: [{ id: 'R1', text: 'x' }],
    tasks: [
      { id: 'T1', title: 'One', phase: 'api', requirements: ['R1'], dependsOn: a % 4 ? [] : ['T1'], files: ['a.ts'] },
    ],
  });

export const specGenerators: { [T in SpecCommand]: (draw: Draw) => Omit<CommandOf<T>, 'type'> } = {
  'spec.request': ({ a }) => ({ ...specOf(a), title: `Spec ${a}`, source: specSource(a), by: personActor('ada') }),
  'spec.import': ({ a, b }) => ({ ...specOf(a), draft: draftOf(b), source: specSource(a), by: personActor('ada') }),
  'spec.edit': ({ a, b }) => ({ ...specOf(a), version: b % 3, draft: draftOf(a), by: personActor('ada') }),
  'spec.revise': ({ a, b }) => ({
    ...specOf(a),
    version: b % 3,
    comments: b % 5 ? [{ line: b, quote: 'x', text: 'y' }] : [],
    by: personActor('ada'),
  }),
  'spec.approve': ({ mill, a, b }) => ({
    ...specOf(a),
    version: b % 3,
    tasks: [{ key: 'T1', taskId: at([...mill.tasks.keys()], b), phase: 'api', requirements: ['R1'] }],
    override: b % 2 > 0,
    by: personActor('ada'),
  }),
  'spec.reject': ({ a }) => ({ ...specOf(a), why: 'no', by: personActor('ada') }),
  'spec.settle': ({ a }) => specOf(a),
  'spec.begin': ({ a }) => specOf(a),
  'spec.abort': ({ a, task }) => ({ ...specOf(a), why: 'stop', held: [task.id], by: personActor('ada') }),
  'spec.resume': ({ a }) => ({ ...specOf(a), by: personActor('ada') }),
  'spec.check': ({ a, b }) => ({ ...specOf(a), unbuilt: b % 2 ? ['R1'] : [] }),
  'spec.accept': ({ a }) => ({ ...specOf(a), by: personActor('ada') }),
  'spec.extend': ({ a, task }) => ({
    ...specOf(a),
    tasks: [{ key: 'T2', taskId: task.id, phase: 'tests', requirements: ['R1'] }],
    by: personActor('ada'),
  }),
};
