import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { landedTasks } from '../support/mission/repository.ts';
import { makeVendorProject } from '../support/mission/vendor-project.ts';
import { approved } from '../support/mission/vendor-tasks.ts';
import { claude, codex, install, type Mind } from '../support/mission/vendors.ts';
import { result, run } from '../support/model/mind.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

const vendors = await Promise.all([claude, codex].map(async (vendor) => ({ vendor, found: await install(vendor) })));

/** Weighs a file, or, without one, finds out whether every file was weighed rightly. */
const SCALES = `#!/bin/sh
if [ $# = 1 ]; then wc -c < "$1" > "$1.weight"; exit; fi
for file in src/*.weight; do
  [ ! -e "$file" ] || [ "$(cat "$file")" = "$(wc -c < "\${file%.weight}")" ] || exit 1
done
`;

/** The agent uses the tool by its name; without it nothing is changed, and nothing lands. */
const mind: Mind = ({ mode, prompt, results }) => {
  if (mode === 'plan') return result('plan_complete', { plan: '1. Weigh it.' });
  if (mode === 'review') return approved(prompt);
  return results.length === 0 ? run('scales src/sum.mjs') : result('pr_ready');
};

test.for(vendors.map(({ vendor, found }) => [vendor.name, vendor, found] as const))(
  'a task that needs a tool which is only on the daemon’s PATH lands with %s',
  { timeout: 300_000 },
  async ([, vendor, found], context) => {
    context.skip('missing' in found, 'missing' in found ? found.missing : '');
    if ('missing' in found) return;
    const machine = new TidemillHome();
    const model = await vendor.serve(mind);
    try {
      // As pyenv, nvm and mise do it: a folder in the home that no login shell knows.
      const shims = join(machine.home, '.scales', 'shims');
      mkdirSync(shims, { recursive: true });
      writeFileSync(join(shims, 'scales'), SCALES);
      chmodSync(join(shims, 'scales'), 0o755);
      machine.env.PATH = [shims, found.bin, process.env.PATH].join(delimiter);
      const root = await makeVendorProject(machine, {
        name: vendor.name,
        agents: { default: vendor.agent(model.url, found) },
        tasks: [{ title: 'Weigh the sum', accept: ['src/sum.mjs.weight has its size'], pipeline: 'feature' }],
        installed: found,
        gate: 'scales',
      });
      const up = await machine.run(['up', '--until-idle', '--plain'], root);
      expect(up.code, `${up.stdout}\n${up.stderr}`).toBe(0);
      expect(await landedTasks(machine, root)).toEqual([1]);
      expect(await machine.git(root, 'show', 'main:src/sum.mjs.weight')).toMatch(/^\s*\d+$/);
    } finally {
      await model.stop();
      await machine.close();
    }
  },
);
