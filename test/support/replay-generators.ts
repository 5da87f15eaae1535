import { personActor, type ReplayResult } from '@tidemill/contract';
import type { CommandOf } from '@tidemill/core';
import type { Draw } from './draw.ts';

const projectId = 'project_1';
type ReplayCommand = 'replay.start' | 'replay.try' | 'replay.measure' | 'replay.stop' | 'replay.end';

const idOf = (number: number) => `replay_${number % 4}`;
const resultOf = (a: number): ReplayResult => ({
  verdict: (['passed', 'failed', 'void'] as const)[a % 3]!,
  tries: 1 + (a % 3),
  isFirstTry: a % 3 === 0,
  gates: [],
  why: '',
  runId: null,
  costUsd: a / 100,
  tokens: a,
  durationMs: a,
});
const runsIn = ({ mill }: Draw) => [...mill.records.values()].filter((each) => each.noun === 'replay_run');

export const replayGenerators: { [T in ReplayCommand]: (draw: Draw) => Omit<CommandOf<T>, 'type'> } = {
  'replay.start': ({ task, a, b }) => ({
    projectId,
    replayId: idOf(a),
    by: personActor('ada'),
    replay: {
      purpose: { kind: 'bench', id: null },
      variants: [{ name: 'as configured', agent: null, prompt: null, lessons: [] }],
      tasks:
        b % 5 === 0
          ? []
          : [
              {
                taskId: task.id,
                number: task.number,
                title: task.title,
                base: 'b',
                commit: 'c',
                files: [],
                landedAt: 1,
              },
            ],
      repeats: 1 + (b % 3),
      withLandedTests: false,
      limitUsd: 5,
    },
  }),
  'replay.try': ({ task, a, b }) => ({ projectId, replayId: idOf(a), taskId: task.id, variant: b % 2, repeat: b % 3 }),
  'replay.measure': (draw) => {
    const runs = runsIn(draw);
    const run = runs[draw.a % Math.max(1, runs.length)];
    const lease = run ? draw.mill.records.get(run.jobId) : undefined;
    const token = lease?.noun === 'job' ? (lease.lease?.token ?? 0) : 0;
    const fence = { subjectId: run?.id ?? 'replay_0/x/0/0', jobId: run?.jobId ?? 'job_0', token };
    return { projectId, ...fence, replayRunId: fence.subjectId, result: resultOf(draw.b) };
  },
  'replay.stop': ({ a }) => ({ projectId, replayId: idOf(a), why: 'enough', by: personActor('ada') }),
  'replay.end': ({ a }) => ({ projectId, replayId: idOf(a), report: { variants: [], pairs: [] }, spentUsd: 0 }),
};
