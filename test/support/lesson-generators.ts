import { ENGINE, type LessonChange, LessonDraft, LessonFault, LessonVerdict, personActor } from '@tidemill/contract';
import type { CommandOf, CommandType } from '@tidemill/core';
import { at, type Draw, idOf, projectId, recordOf } from './draw.ts';

type LessonCommand = Extract<CommandType, `lesson.${string}`>;

const LESSONS = [
  'Regenerate the client after every change of the schema file',
  'Never edit the generated client by hand',
  'Edit the generated client by hand',
  'Run the migration twice to see that it can be repeated',
  'Tests may be skipped here',
];
const LESSON_CHANGES: LessonChange[] = [{ why: 'y' }, { text: 'Close the database handle before the test ends' }, {}];
const LESSON_PROOF = { replayId: 'replay_1', pairs: 20, gain: 0.2, low: 0.1, high: 0.3, placeboGain: 0, costUsd: 1 };
const lessonOf = (b: number): LessonDraft =>
  LessonDraft.parse({
    text: at(LESSONS, b),
    filePatterns: b % 3 ? ['schema/**'] : [],
    topics: b % 2 ? ['schema'] : [],
  });
const ofLesson = ({ mill, a }: Draw) => ({ projectId, lessonId: idOf(mill, 'lesson', a) });
const lessonOrigin = ({ task, a, b }: Draw) => ({
  traceIds: [],
  taskIds: [task.id],
  runId: `run_${a % 9}`,
  by: b % 2 ? personActor('ada') : { kind: 'agent' as const, id: 'a', name: 'a' },
});

export const lessonGenerators: { [T in LessonCommand]: (draw: Draw) => Omit<CommandOf<T>, 'type'> } = {
  'lesson.record': (draw) => ({
    projectId,
    lessonId: `lesson_${draw.a % 12}`,
    draft: lessonOf(draw.b),
    origin: lessonOrigin(draw),
    control: { good: draw.a % 3, total: 3 },
  }),
  'lesson.refuse': ({ b }) => ({ projectId, fault: at(LessonFault.options, b), why: 'x', by: ENGINE }),
  'lesson.confirm': (draw) => ({ ...ofLesson(draw), origin: lessonOrigin(draw) }),
  'lesson.edit': (draw) => ({ ...ofLesson(draw), change: at(LESSON_CHANGES, draw.b), by: personActor('ada') }),
  'lesson.inject': ({ mill, task, a, b }) => ({
    projectId,
    runId: `run_${b % 9}`,
    taskId: task.id,
    files: ['src/a.ts'],
    lessonIds: [idOf(mill, 'lesson', a)],
    heldBackIds: [idOf(mill, 'lesson', b)],
  }),
  'lesson.settle': ({ mill, task, a, b }) => {
    const use = recordOf(mill, 'lesson_use', a);
    return {
      projectId,
      runId: use?.runId ?? 'run_0',
      taskId: use?.taskId ?? task.id,
      lessonIds: use && b % 9 ? [...use.lessonIds, ...use.heldBackIds] : [],
      verdict: at(LessonVerdict.options, b),
      why: 'the gates failed',
    };
  },
  'lesson.advance': (draw) => ({
    ...ofLesson(draw),
    to: at(['experiment', 'validated', 'production'] as const, draw.b),
    why: 'x',
    proof: draw.b % 4 ? { ...LESSON_PROOF, low: (draw.a % 3) - 1 } : null,
    by: ENGINE,
  }),
  'lesson.promote': (draw) => ({ ...ofLesson(draw), file: 'AGENTS.md', taskId: draw.task.id, by: ENGINE }),
  'lesson.demote': (draw) => ({ ...ofLesson(draw), why: 'x', by: ENGINE }),
  'lesson.retire': (draw) => ({ ...ofLesson(draw), why: 'x', by: personActor('ada') }),
  'lesson.restore': (draw) => ({ ...ofLesson(draw), by: personActor('ada') }),
};
