import type { LoggedEvent, ProjectStatus, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { landedTasks } from '../support/mission/repository.ts';
import { makeVendorProject, testOf } from '../support/mission/vendor-project.ts';
import { runsOf } from '../support/mission/vendor-run.ts';
import { claude, codex, install, type VendorModel } from '../support/mission/vendors.ts';
import { type Assignment, type Move, result, write } from '../support/model/mind.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

const TASKS = ['one', 'two', 'three'].map((name) => ({ title: `Add ${name}`, pipeline: 'quick' }));
const LIMITED = 4;
const OVERFULL = 5;
const RESET_SECONDS = 3;

let machine: TidemillHome;
let model: VendorModel | undefined;
let isLockedOut: boolean;
beforeEach(() => {
  machine = new TidemillHome();
  isLockedOut = true;
});
afterEach(async () => {
  await model?.stop();
  await machine.close();
});

const vendors = await Promise.all(
  [claude, codex].map(async (vendor) => ({ vendor, name: vendor.name, found: await install(vendor) })),
);

function mind({ task, prompt, prompts, results }: Assignment): Move {
  if (isLockedOut) return { kind: 'trouble', what: 'auth' };
  const isFirst = results.length === 1 && prompts === 1;
  if (task === LIMITED && isFirst) return { kind: 'trouble', what: { rateLimitSeconds: RESET_SECONDS } };
  const isFull = isFirst && !prompt.includes('until its context was full');
  if (task === OVERFULL && isFull) return { kind: 'trouble', what: 'too_long' };
  const name = `number${task}`;
  const moves = [
    write(`src/${name}.mjs`, `export const ${name} = () => ${task};\n`),
    write(`test/${name}.test.mjs`, testOf(name, `equal(${name}(), ${task})`)),
  ];
  // The next run finds the first of the two files written.
  const isFollowed = (task === LIMITED && prompts > 1) || prompt.includes('until its context was full');
  const done = results.length + (isFollowed ? 1 : 0);
  return moves[done] ?? result('pr_ready');
}

describe('a failure of the vendor', () => {
  test.for(vendors)('with $name makes the task wait, with one notice', { timeout: 240_000 }, async (each, context) => {
    const { vendor, found, name } = each;
    context.skip('missing' in found, 'missing' in found ? found.missing : '');
    if ('missing' in found) return;
    model = await vendor.serve(mind);
    const agents = { default: vendor.agent(model.url, found) };
    const root = await makeVendorProject(machine, { name, agents, tasks: TASKS, workers: 2, installed: found });
    const daemon = await machine.up(root);

    const waiting = new Set<string>();
    await machine.event('task.waiting', ({ taskId }) => waiting.add(taskId).size === 2);
    await machine.event('alert.raised');
    const leased = await machine.json<TaskSummary[]>(['task', 'list'], root);
    expect(leased.map(({ blocked }) => blocked)).toEqual([null, null, null]);
    expect(leased.filter((task) => task.waiting !== null)).toHaveLength(2);
    const { needsYou, idle } = await machine.json<ProjectStatus>(['status'], root);
    // No agent can start the third task, so `--until-idle` does not wait for it.
    expect(idle).toBe(true);
    expect(needsYou.map(({ command }) => command)).toContain('tidemill task retry 1');
    isLockedOut = false;
    await machine.json(['task', 'retry', '1'], root);
    await machine.idle(root);
    expect((await landedTasks(machine, root)).toSorted()).toEqual([1, 2, 3]);
    const runs = await Promise.all([1, 2, 3].map((number) => runsOf(machine, root, number)));
    expect(runs.flat().filter(({ failure }) => failure === 'auth')).toHaveLength(2);

    await machine.json(['task', 'add', 'Meets a limit', '--pipeline', 'quick'], root);
    await machine.json(['task', 'add', 'Is too much for one context', '--pipeline', 'quick'], root);
    await machine.idle(root);
    expect((await landedTasks(machine, root)).toSorted()).toEqual([1, 2, 3, LIMITED, OVERFULL]);
    const [limited, resumed, ...more] = await runsOf(machine, root, LIMITED);
    expect(more).toEqual([]);
    expect(limited).toMatchObject({ outcome: 'failed', failure: 'rate_limit' });
    expect(resumed).toMatchObject({ outcome: 'pr_ready', session: limited!.session });
    expect(await runsOf(machine, root, OVERFULL)).toMatchObject([{ outcome: 'pr_ready' }]);

    const alerts = (await machine.jsonLines<LoggedEvent>(['events', '--type', 'alert.raised'], root)).map(
      ({ body }) => body,
    );
    expect(alerts.filter(({ type, ...alert }) => 'kind' in alert && alert.kind.startsWith('agent_'))).toMatchObject([
      { taskId: null, kind: 'agent_auth', text: expect.stringContaining(name) },
    ]);
    expect((await machine.run(['stop'], root)).code).toBe(0);
    await daemon.ended;
  });
});
