import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { landedTasks } from '../support/mission/repository.ts';
import { strays } from '../support/mission/strays.ts';
import { makeVendorProject, testOf } from '../support/mission/vendor-project.ts';
import { BUSY_ONCE, bill, booked, busy, runsOf } from '../support/mission/vendor-run.ts';
import { claude, codex, install, type VendorModel } from '../support/mission/vendors.ts';
import { type Assignment, type Move, result, run, withTokens, write } from '../support/model/mind.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

const MODELS = { claude: 'claude-sonnet-4-5', codex: 'gpt-5.5' } as const;
const PRICES = {
  claude: { input: 3, cached: 0.3, output: 15 },
  codex: { input: 5, cached: 0.5, output: 30 },
} as const;

let machine: TidemillHome;
let model: VendorModel | undefined;
beforeEach(() => {
  machine = new TidemillHome();
});
afterEach(async () => {
  await model?.stop();
  await machine.close();
});

const vendors = await Promise.all([claude, codex].map(async (vendor) => ({ vendor, found: await install(vendor) })));

/** It is killed during a command; the next run finds the command done. */
function mind({ results, prompts }: Assignment): Move {
  const tokens = { input: 1000 * prompts + results.length, cached: 100, output: 50 + results.length };
  const moves = [run(BUSY_ONCE), write('src/one.mjs', 'export const one = () => 1;\n')];
  const last = write('test/one.test.mjs', testOf('one', 'equal(one(), 1)'));
  return withTokens([...moves, last][results.length] ?? result('pr_ready'), tokens);
}

describe('a daemon that is killed while its agent runs a command', () => {
  test.for(vendors.map(({ vendor, found }) => [vendor.name, vendor, found] as const))(
    'leaves no process of %s behind, and the next daemon finishes the task, each request booked once',
    { timeout: 240_000 },
    async ([name, vendor, found], context) => {
      context.skip('missing' in found, 'missing' in found ? found.missing : '');
      if ('missing' in found) return;
      model = await vendor.serve(mind);
      const agents = { default: { ...vendor.agent(model.url, found), model: MODELS[name as keyof typeof MODELS] } };
      const tasks = [{ title: 'Add one', accept: ['one() is 1'], pipeline: 'quick' }];
      const root = await makeVendorProject(machine, { name, agents, tasks, installed: found });
      const daemon = await machine.up(root);
      await busy(machine);
      // A response is reported several times; here all of it is booked.
      const [first] = model.sent;
      await machine.event('run.spent', ({ usage }) => usage.outputTokens === first!.output);
      // The shell reports that it is busy shortly before it is.
      const sleeping = () => strays(machine).filter((command) => command.includes('sleep 300')).length;
      await expect.poll(sleeping, { timeout: 30_000 }).toBeGreaterThan(1);
      daemon.child.kill('SIGKILL');
      await daemon.ended;
      await expect.poll(() => strays(machine), { timeout: 5_000 }).toEqual([]);

      const up = await machine.run(['up', '--until-idle', '--plain'], root);
      expect(up.code, up.stderr).toBe(0);
      expect(await landedTasks(machine, root), up.stdout).toEqual([1]);
      expect(strays(machine)).toEqual([]);
      const runs = await runsOf(machine, root, 1);
      expect(runs.map(({ outcome }) => outcome)).toEqual(['interrupted', 'pr_ready']);
      expect(runs[1]?.session).toBe(runs[0]?.session);
      const price = PRICES[name as keyof typeof PRICES];
      expect(booked(runs.slice(0, 1))).toEqual(bill(model.sent.slice(0, 1), price));
      expect(booked(runs.slice(1))).toEqual(bill(model.sent.slice(1), price));
    },
  );
});
