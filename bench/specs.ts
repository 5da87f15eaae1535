import { SPEC_PHASES, SpecDraft } from '@tidemill/contract';
import { inBuildOrder, specDocument, specFaults } from '@tidemill/core';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { median, timed } from './sample.ts';

const TASKS = 200;

/** Whether a large specification can be used, and in which order it is built. */
export async function run(options: BenchOptions): Promise<Section> {
  const draft = large();
  const rounds = sized(options, 50, 10);
  const first = await timed(() => check(draft));
  const times: number[] = [];
  const rendered: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // A copy: nothing that was learned about the last one helps.
    const copy = structuredClone(draft);
    times.push(await timed(() => check(copy)));
    rendered.push(await timed(() => specDocument(copy)));
  }
  return {
    name: 'specs',
    title: `A specification of ${TASKS} tasks`,
    rows: [
      row({ name: 'validated and ordered', value: median(times), unit: 'ms', target: { atMost: 50 } }),
      row({ name: 'the first time in a process', value: first, unit: 'ms' }),
      row({ name: 'rendered as a document', value: median(rendered), unit: 'ms' }),
    ],
    notes: [`Each task waits for up to three others; ${draft.requirements.length} requirements.`],
  };
}

function check(draft: SpecDraft): void {
  if (specFaults(draft).length > 0) throw new Error('the specification is not valid');
  if (inBuildOrder(draft.tasks).length !== TASKS) throw new Error('a task is missing in the order');
}

function large(): SpecDraft {
  const tasks = Array.from({ length: TASKS }, (_, at) => ({
    id: `T${at}`,
    title: `Task ${at}`,
    phase: SPEC_PHASES[Math.floor((at * SPEC_PHASES.length) / TASKS)],
    files: [`src/part-${at}.ts`, `src/part-${at}.test.ts`],
    dependsOn: [at - 1, at - 7, at - 31].filter((other) => other >= 0).map((other) => `T${other}`),
    requirements: [`R${at % 40}`],
    accept: [`part ${at} returns ${at}`],
  }));
  const requirements = Array.from({ length: 40 }, (_, at) => ({ id: `R${at}`, text: `It does ${at}` }));
  return SpecDraft.parse({ title: 'Large', requirements, tasks });
}
