import { hash } from 'node:crypto';
import { join } from 'node:path';
import { LessonDraft, personActor } from '@tidemill/contract';
import { createIds, systemClock } from '../packages/daemon/src/clock.ts';
import { lessonsInUse } from '../packages/daemon/src/engine/learning/known-lessons.ts';
import { lessonsOfRun } from '../packages/daemon/src/engine/learning/run-lessons.ts';
import { openStore } from '../packages/daemon/src/store/open.ts';
import { defaultRules } from '../test/support/mill.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { median, percentile, timed } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

/** As many as can be in use. */
const LESSONS = 500;
const projectId = 'project_1';

/** What it adds to the start of a run that lessons are chosen and recorded. */
export async function run(options: BenchOptions): Promise<Section> {
  const times = await inTemporaryFolder((folder) => measured(join(folder, 'store.db'), sized(options, 300, 50)));
  return {
    name: 'lessons',
    title: 'Lessons',
    rows: [
      row({
        name: `chosen from ${LESSONS}, median`,
        value: median(times),
        unit: 'ms',
        target: { atMost: 5 },
      }),
      row({ name: 'the same, p95', value: percentile(times, 0.95), unit: 'ms' }),
    ],
    notes: [
      'On SQLite. The lessons are read while the worktree is opened, and recorded in the transaction that records the prompt.',
    ],
  };
}

async function measured(file: string, rounds: number): Promise<number[]> {
  const ids = createIds(systemClock);
  const store = await openStore({ url: `sqlite:${file}`, clock: systemClock, ids });
  try {
    await store.execute({ type: 'project.register', projectId, name: 'p', root: '/p', rules: defaultRules });
    for (let n = 0; n < LESSONS; n += 1) await store.execute(lesson(n));
    const task = {
      title: 'Change the order',
      body: '',
      kind: 'feature',
      accept: [],
      dependsOn: [],
      priority: 2,
    } as const;
    const files = ['src/module-7/order.ts'];
    await store.execute({
      type: 'task.create',
      projectId,
      taskId: 'task_1',
      ...task,
      accept: [],
      dependsOn: [],
      files,
    });
    const deps = {
      store,
      project: (await store.project(projectId))!,
      hash: (text: string) => hash('sha256', text),
      onNote: () => undefined,
    };
    const made = (await store.task('task_1'))!;
    const reading = lessonsInUse(deps);
    const times: number[] = [];
    for (let n = 0; n < rounds; n += 1)
      times.push(await timed(() => lessonsOfRun(deps, made, `run_${n}`, 'implement', reading)));
    return times;
  } finally {
    await store.close();
  }
}

/** Different words for each, so that none is like another. */
function lesson(n: number) {
  const word = (seed: number) =>
    hash('sha256', `${n}/${seed}`)
      .replace(/[^a-f]/g, '')
      .slice(0, 9);
  const text = Array.from({ length: 12 }, (_, seed) => word(seed)).join(' ');
  const filePatterns = [`src/module-${n % 50}/**`];
  return {
    type: 'lesson.record' as const,
    projectId,
    lessonId: `lesson_${String(n).padStart(4, '0')}`,
    draft: LessonDraft.parse({ text, filePatterns }),
    origin: { traceIds: [], taskIds: [], runId: null, by: personActor('ada') },
    control: { good: 0, total: 0 },
  };
}
