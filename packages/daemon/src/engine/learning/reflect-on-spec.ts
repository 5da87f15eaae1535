import { MOST_FACTS, type Spec, specVersionId, type Task, withoutSecrets } from '@tidemill/contract';
import { type NewReflection, specDocument } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { isFirstPass, metricsOf } from './reflect-on.ts';

const LONGEST_PLANNED = 2_500;

/** What a reflection about a finished specification is given. Null when every task landed at the first try. */
export async function reflectionOnSpec(deps: EngineDeps, spec: Spec): Promise<NewReflection | null> {
  const { store, project } = deps;
  const all = await store.tasks({ projectId: project.id, newestFirst: true, limit: 1000 });
  const tasks = all.filter(({ origin }) => origin?.kind === 'spec' && origin.id === spec.id);
  const done = await Promise.all(
    tasks.map(async (task) => {
      const uses = await store.records({ noun: 'lesson_use', parent: task.id });
      return { task, runs: await store.runs(task.id), isTaught: uses.some(({ lessonIds }) => lessonIds.length > 0) };
    }),
  );
  const again = done.filter(({ task, runs }) => !isFirstPass(task, runs));
  if (done.length === 0 || again.length === 0) return null;
  const version = await store.record('spec_version', specVersionId(spec.id, spec.approved?.version ?? spec.version));
  const planned = version ? specDocument(version.draft).slice(0, LONGEST_PLANNED) : '';
  const line = (task: Task, tries: number) => `#${task.number} ${task.title}: ${task.stage}, ${tries} runs`;
  const facts = [
    `Specification: ${spec.title}`,
    ...(planned === '' ? [] : [`Planned:\n${planned}`]),
    `${done.length - again.length} of ${done.length} tasks landed at the first try.`,
    'Those that did not:',
    ...again.map(({ task, runs }) => `- ${line(task, runs.length)}`),
    'What their runs say:',
    ...again.flatMap(({ task, runs }) =>
      runs
        .filter(({ failure, validationRetries }) => failure !== null || validationRetries > 0)
        .map(({ mode, failure, summary }) => `- #${task.number} ${mode} ${failure ?? ''}: ${summary.slice(0, 200)}`),
    ),
  ].join('\n');
  return {
    about: { kind: 'spec', id: spec.id, number: spec.number, title: spec.title },
    why: `${again.length} of ${done.length} tasks did not land at the first try`,
    facts: withoutSecrets(facts).slice(0, MOST_FACTS).toWellFormed(),
    files: [...new Set(again.flatMap(({ task }) => task.files))],
    traceIds: [],
    metrics: metricsOf(done),
  };
}
