import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { landedTasks } from '../support/mission/repository.ts';
import { makeVendorProject, testOf } from '../support/mission/vendor-project.ts';
import { BUSY_ONCE, bill, booked, busy, runsOf } from '../support/mission/vendor-run.ts';
import { approved } from '../support/mission/vendor-tasks.ts';
import { claude, codex, install, type VendorModel } from '../support/mission/vendors.ts';
import { type Assignment, type Move, result, run, withTokens, write } from '../support/model/mind.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

const vendors = await Promise.all(
  [
    {
      vendor: claude,
      model: 'claude-sonnet-4-5',
      price: { input: 3, cached: 0.3, output: 15 },
      // Its servers report the tokens of the prompt at the start of a response.
      begun: [{ task: 3, input: 100, cached: 0, output: 1 }],
    },
    { vendor: codex, model: 'gpt-5.5', price: { input: 5, cached: 0.5, output: 30 }, begun: [] },
  ].map(async (each) => ({ ...each, name: each.vendor.name, found: await install(each.vendor) })),
);

const TASKS = [
  { title: 'Goes well', pipeline: 'quick' },
  { title: 'Meets a broken server, once', pipeline: 'quick' },
  { title: 'Is cancelled in the middle of an answer', pipeline: 'quick' },
  { title: 'Is looked into by a model without a price', accept: ['It is so'], pipeline: 'bug' },
];
const STOPPED = 5;

let machine: TidemillHome;
let model: VendorModel | undefined;
beforeEach(() => {
  machine = new TidemillHome();
});
afterEach(async () => {
  await model?.stop();
  await machine.close();
});

/** No two responses cost the same. */
function mind(about: Assignment): Move {
  const { task, results, prompts, mode } = about;
  const tokens = {
    input: 1000 * task + 10 * prompts + results.length,
    cached: 100 * task,
    output: 50 + results.length,
  };
  return withTokens(moveOf(about), mode === 'investigate' ? { input: 7, cached: 0, output: 3 } : tokens);
}

function moveOf({ task, mode, prompt, results, prompts }: Assignment): Move {
  if (mode === 'investigate') return result('investigation_complete', { investigationSummary: 'It is so.' });
  if (mode === 'review') return approved(prompt);
  if (task === 2 && results.length === 1 && prompts === 1) return { kind: 'trouble', what: 'broken' };
  if (task === 3 && results.length === 1) return { kind: 'silence' };
  const name = `number${task}`;
  const work = [
    write(`src/${name}.mjs`, `export const ${name} = () => ${task};\n`),
    write(`test/${name}.test.mjs`, testOf(name, `equal(${name}(), ${task})`)),
  ];
  const moves = task === STOPPED ? [run(BUSY_ONCE), ...work] : work;
  return moves[results.length] ?? result('pr_ready');
}

describe('the recorded costs', () => {
  test.for(vendors)('of $name match what the model sent', { timeout: 300_000 }, async (each, context) => {
    const { vendor, found, name, price } = each;
    context.skip('missing' in found, 'missing' in found ? found.missing : '');
    if ('missing' in found) return;
    const silence = Promise.withResolvers<void>();
    model = await vendor.serve((about) => {
      const move = mind(about);
      if (move.kind === 'silence') silence.resolve();
      return move;
    });
    const { sent } = model;
    const ofTask = (number: number) => sent.filter(({ task }) => task === number);
    const agent = { ...vendor.agent(model.url, found), model: each.model };
    const agents = { default: agent, investigate: { ...agent, model: 'house-model-1' } };
    const root = await makeVendorProject(machine, { name, agents, tasks: TASKS, installed: found });
    const daemon = await machine.up(root);

    const [project] = await machine.api().projects({ root });
    await machine.event('failure.counted', ({ failure }) => failure === 'overloaded');
    // Its backoff would also end, but later.
    await machine.api().retryTask({ project: project!.id, task: 2 });
    await silence.promise;
    // The reported part of an endless response must be recorded before it is aborted.
    const begun = bill([...ofTask(3), ...each.begun], price);
    await machine.event('run.spent', ({ usage }) => usage.inputTokens === begun.inputTokens);
    await machine.json(['task', 'cancel', '3'], root);
    await machine.idle(root);
    expect(await landedTasks(machine, root)).toEqual(expect.arrayContaining([1, 2, 4]));

    await machine.json(['task', 'add', 'Is interrupted, and gone on with', '--pipeline', 'quick'], root);
    await busy(machine);
    expect((await machine.run(['stop', '--now'], root)).code).toBe(0);
    await daemon.ended;
    const up = await machine.run(['up', '--until-idle', '--plain'], root);
    expect(up.code, up.stderr).toBe(0);
    expect(await landedTasks(machine, root), up.stdout).toContain(STOPPED);

    const [well, failed, cancelled, unpriced, stopped] = await Promise.all(
      [1, 2, 3, 4, STOPPED].map((number) => runsOf(machine, root, number)),
    );
    expect(well!.map(({ outcome }) => outcome)).toEqual(['pr_ready']);
    expect(booked(well!)).toEqual(bill(ofTask(1), price));

    expect(failed!.map(({ outcome, failure }) => failure ?? outcome)).toEqual(['overloaded', 'pr_ready']);
    expect(booked(failed!.slice(0, 1))).toEqual(bill(ofTask(2).slice(0, 1), price));
    expect(booked(failed!.slice(1))).toEqual(bill(ofTask(2).slice(1), price));

    expect(cancelled!.map(({ outcome }) => outcome)).toEqual(['interrupted']);
    // The price of a stopped agent's request is not assumed.
    expect(booked(cancelled!)).toEqual(begun);

    const [looked, ...rest] = unpriced!;
    expect(looked!.usage).toMatchObject({
      inputTokens: 7,
      outputTokens: 3,
      requests: 1,
      costUsd: 0.5,
      assumedUsd: 0.5,
    });
    expect(booked(rest)).toEqual(bill(ofTask(4).slice(1), price));

    expect(stopped!.map(({ outcome }) => outcome)).toEqual(['interrupted', 'pr_ready']);
    expect(stopped![1]!.session).toBe(stopped![0]!.session);
    expect(booked(stopped!.slice(0, 1))).toEqual(bill(ofTask(STOPPED).slice(0, 1), price));
    expect(booked(stopped!.slice(1))).toEqual(bill(ofTask(STOPPED).slice(1), price));
  });
});
