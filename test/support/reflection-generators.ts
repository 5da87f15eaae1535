import type { CommandOf } from '@tidemill/core';
import type { Draw } from './draw.ts';

const projectId = 'project_1';
const idOf = (number: number) => `reflection_${number % 4}`;

export const reflectionGenerators: {
  [T in 'reflection.request' | 'reflection.end']: (draw: Draw) => Omit<CommandOf<T>, 'type'>;
} = {
  'reflection.request': ({ task, a }) => ({
    projectId,
    reflectionId: idOf(a),
    reflection: {
      about: { kind: 'task', id: task.id, number: task.number, title: task.title },
      why: 'gates sent the agent back once',
      facts: 'Task: x',
      files: [],
      traceIds: [],
      metrics: { tasks: 1, firstPass: 0, taught: 0, taughtFirstPass: 0, durationMs: 1, tokens: 1 },
    },
  }),
  'reflection.end': ({ task, a, b }) => ({
    projectId,
    reflectionId: idOf(a),
    outcome: 'lesson L1 was recorded',
    lessonId: b % 2 ? 'lesson_1' : null,
    taskId: b % 3 ? task.id : null,
  }),
};
