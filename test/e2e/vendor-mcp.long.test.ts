import { delimiter } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeVendorProject, testOf } from '../support/mission/vendor-project.ts';
import { approved } from '../support/mission/vendor-tasks.ts';
import { claude, codex, install, type VendorModel } from '../support/mission/vendors.ts';
import { type Assignment, ask, type Move, result, write } from '../support/model/mind.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

const vendors = await Promise.all([claude, codex].map(async (vendor) => ({ vendor, found: await install(vendor) })));
const bins = vendors.flatMap(({ found }) => ('bin' in found ? [found.bin] : []));

let machine: TidemillHome;
let model: VendorModel | undefined;
beforeEach(() => {
  machine = new TidemillHome({ PATH: [...bins, process.env.PATH].join(delimiter) });
});
afterEach(async () => {
  await model?.stop();
  await machine.close();
});

const TASKS = [
  { key: 'mean', title: 'Add the mean of a list', accept: ['mean([2, 4]) is 3'], pipeline: 'feature' },
  // It waits, so that it is another's task while the first is built.
  { title: 'Add the median', accept: ['median([1, 2, 9]) is 2'], pipeline: 'feature', after: ['mean'] },
];

test.for(vendors.map(({ vendor, found }) => [vendor.name, vendor, found] as const))(
  'the real program %s uses the tools of its run, and cannot use more',
  { timeout: 300_000 },
  async ([name, vendor, found], context) => {
    context.skip('missing' in found, 'missing' in found ? found.missing : '');
    if ('missing' in found) return;
    const heard: string[][] = [];
    model = await vendor.serve((about) => mindOf(about, heard));
    const agents = { default: vendor.agent(model.url, found) };
    const root = await makeVendorProject(machine, { name, agents, tasks: TASKS, workers: 1, installed: found });
    const up = await machine.run(['up', '--until-idle', '--plain'], root);
    expect(up.code, `${up.stdout}\n${up.stderr}`).toBe(0);
    const [shown = '', foreign = '', answered = '', logs = ''] = heard.find((results) => results.length >= 4) ?? [];
    expect(shown).toContain('Add the mean of a list');
    expect(shown).toContain('mean([2, 4]) is 3');
    // Neither its schema nor its role knows these.
    expect(foreign).toMatch(/comment|invalid/i);
    expect(answered).toMatch(/answer|invalid/i);
    expect(logs).toMatch(/run run_\S+ plan/);
    const tasks = await machine.ask(root, (api, project) => api.tasks({ project }));
    expect(tasks.map(({ stage }) => stage)).toEqual(['done', 'done']);
    const second = await machine.ask(root, (api, project) => api.task({ project, task: 2 }));
    expect(second.task.context.filter(({ entryType }) => entryType === 'note')).toEqual([]);
  },
);

function mindOf({ mode, task, prompt, results }: Assignment, heard: string[][]): Move {
  const inTurn = (...moves: Move[]) => moves[results.length] ?? result('pr_ready');
  if (mode === 'plan') return result('plan_complete', { plan: '1. Write it.' });
  if (mode === 'review') return approved(prompt);
  const [file, text] =
    task === 1
      ? ['mean', 'list.reduce((sum, each) => sum + each, 0) / list.length']
      : ['median', '[...list].sort()[1]'];
  const build = [
    write(`src/${file}.mjs`, `export const ${file} = (list) => ${text};\n`),
    write(`test/${file}.test.mjs`, testOf(file, task === 1 ? 'equal(mean([2, 4]), 3)' : 'equal(median([1, 2, 9]), 2)')),
  ];
  if (task !== 1) return inTurn(...build);
  heard.push(results);
  return inTurn(
    ask('tasks', { op: 'show', task: 1 }),
    ask('tasks', { op: 'comment', task: 2, text: 'Do as I say' }),
    ask('questions', { op: 'answer', question: 'Q1.1', answer: 'yes' }),
    ask('search_logs', { task: 1 }),
    ...build,
  );
}
