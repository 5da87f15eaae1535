import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProofBed } from '../../support/hostile/proof-bed.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
const bed = new ProofBed();
const { machine } = bed;
beforeAll(() => bed.open(), MINUTE);
afterAll(() => bed.close());

describe('a proof by gates that need each other', { timeout: 2 * MINUTE }, () => {
  test('runs a gate that needs a failed gate only when that gate passes', async () => {
    const mine = await bed.repository(
      `gates:
  - { name: test, run: "cat node_modules/built", needs: [build] }
  - { name: build, run: "mkdir -p node_modules; cat *.txt > node_modules/built; ! grep -q BROKEN *.txt" }
`,
      'if grep -q BROKEN a.txt; then echo fine > a.txt; else echo BROKEN > a.txt; fi',
      { 'a.txt': 'start\n' },
    );
    await mine.start();
    await mine.add('work');
    await mine.arrives('work', 'done');
    const ran = (await mine.evidence()).map(({ gate, status }) => `${gate} ${status}`);
    expect(ran).toEqual(['integrity pass', 'build fail', 'build fail', 'integrity pass', 'build pass', 'test pass']);
  });
});

describe('a proof by a gate that fixes or fails at times', { timeout: 2 * MINUTE }, () => {
  test('lands the repairs of a gate that fixes, after all gates ran on them', async () => {
    const mine = await bed.repository(
      `gates:
  - { name: format, run: "sed -i s/UGLY/pretty/ *.txt", fixes: true }
  - { name: lint, run: "! grep -l UGLY *.txt" }
`,
      'echo UGLY >> a.txt',
      { 'a.txt': 'start\n' },
    );
    await mine.start();
    await mine.add('work');
    await mine.arrives('work', 'done');
    expect(readFileSync(join(mine.root, 'a.txt'), 'utf8')).toBe('start\npretty\n');
    const tree = await machine.git(mine.root, 'rev-parse', 'main^{tree}');
    const passed = (await mine.evidence()).filter((link) => link.tree === tree && link.status === 'pass');
    expect(passed.map(({ gate }) => gate)).toEqual(['integrity', 'format', 'lint']);
    expect(passed[1]).toMatchObject({ level: 'standard', config: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(passed[1]?.environment).toMatch(/linux|darwin/);
  });

  test('that fails and then passes is recorded as a flake, with an alert', async () => {
    const flag = join(machine.folder, 'flag');
    const mine = await bed.repository(
      `sandbox: off
gates:
  - { name: test, run: "test -f a.txt || exit 0; test -f ${flag} || { touch ${flag}; exit 1; }" }
`,
      'echo x > a.txt',
    );
    await mine.start();
    await mine.add('work');
    await mine.arrives('work', 'done');
    const ran = (await mine.evidence()).filter(({ gate }) => gate === 'test');
    expect(ran.map(({ status, attempt }) => `${status} ${attempt}`)).toEqual(['fail 1', 'pass 2']);
    expect((await mine.alerts()).map(({ text }) => text).join()).toMatch(
      /test failed and then passed on the same code/,
    );
    expect((await mine.api.metrics({ project: mine.project, period: '24h' })).flakes).toEqual([
      { gate: 'test', runs: 1, flakes: 1 },
    ]);
    const { stdout } = await machine.run(['metrics'], mine.root);
    expect(stdout).toContain('Flaky: gate test failed and then passed on the same code, 1 of 1 times.');
  });
});

describe('the environment of gates', { timeout: 5 * MINUTE }, () => {
  test('is checked while the first agent works: a broken target is reported before any work is handed in', async () => {
    const go = join(machine.folder, 'go');
    const mine = await bed.repository(
      `sandbox: off
gates:
  - { name: test, run: "! grep -q BROKEN b.txt" }
`,
      `while [ ! -e ${go} ]; do sleep 0.05; done; echo x > a.txt`,
      { 'b.txt': 'fine\n' },
    );
    await mine.start();
    await mine.save({ 'b.txt': 'BROKEN\n' });
    await mine.commit('From outside');
    await mine.add('work');
    await until(async () => (await mine.alerts()).some(({ text }) => text.includes('main itself fails test')));
    expect((await mine.detail(1)).runs).toMatchObject([{ status: 'running' }]);
    await mine.save({ 'b.txt': 'fine again\n' });
    await mine.commit('Repaired from outside');
    await writeFile(go, '');
    await mine.arrives('work', 'done');
  });

  test('that lacks a program counts nothing, and work continues when the program is there', async () => {
    const mine = await bed.repository(
      `sandbox: off
gates:
  - { name: test, run: "${join(machine.folder, 'tool')}" }
`,
      'echo x > a.txt',
    );
    await mine.start();
    await mine.add('work');
    await until(async () => (await mine.alerts()).length > 0);
    expect((await mine.detail(1)).runs).toEqual([]);
    await writeFile(join(machine.folder, 'tool'), '#!/bin/sh\nexit 0\n');
    await chmod(join(machine.folder, 'tool'), 0o755);
    await mine.arrives('work', 'done');
    expect((await mine.detail(1)).runs).toHaveLength(1);
  });

  test.each([
    ['itself', 'kill -9 $$'],
    ['in a program of it', "sh -c 'kill -9 $$'; exit $?"],
  ])('causes a gate to be killed %s; nothing is counted, and work continues automatically', async (where, dies) => {
    const memory = join(machine.folder, `memory ${where}`.replaceAll(' ', '-'));
    const mine = await bed.repository(
      `sandbox: off
gates:
  - name: test
    run: |
      test -f a.txt || exit 0
      test -f ${memory} || { ${dies}; }
`,
      'echo x > a.txt',
    );
    await mine.start();
    await mine.add('work');
    await until(async () => (await mine.task(1)).waiting !== null);
    expect(await mine.task(1)).toMatchObject({ stage: 'verify', blocked: null, counters: { failures: {} } });
    expect((await mine.alerts()).map(({ text }) => text).join()).toContain('short of memory');
    await writeFile(memory, '');
    await mine.arrives('work', 'done');
    const { runs } = await mine.detail(1);
    expect(runs.map(({ validationRetries }) => validationRetries)).toEqual([0]);
  });

  test('that cannot be prepared costs nothing: no run starts, one notice, and it continues automatically', async () => {
    const mine = await bed.repository(
      `workers: 3
prepare:
  - { run: "sh deps.sh", files: [deps.sh], network: false }
include: [.env.test]
cleanup: ["echo $TIDEMILL_WORKTREE $TIDEMILL_PORT_BASE >> $PWD/../../../../../cleaned"]
sandbox: off
gates:
  - { name: test, run: "cat node_modules/dep .env.test" }
`,
      'cat node_modules/dep .env.test >> /dev/null || exit 1; echo x > "$TIDEMILL_WORKTREE.txt"',
      { 'deps.sh': 'echo no such registry; exit 1\n' },
    );
    await mine.save({ '.env.test': 'A=1\n' });
    await mine.start();
    for (const title of ['one', 'two', 'three']) await mine.add(title);
    await until(async () => (await mine.alerts()).length > 0);
    expect((await mine.detail(1)).runs).toEqual([]);
    expect((await mine.alerts()).map(({ text }) => text)).toEqual([
      expect.stringMatching(/sh deps\.sh.*no such registry/s),
    ]);
    await writeFile(join(mine.root, 'deps.sh'), 'mkdir -p node_modules; echo dep > node_modules/dep\n');
    await mine.commit('Dependencies can be had');
    for (const title of ['one', 'two', 'three']) await mine.arrives(title, 'done');
    const names = readdirSync(mine.root).filter((name) => name.endsWith('.txt'));
    expect(names.sort()).toEqual(['1-one.txt', '2-two.txt', '3-three.txt']);
    const cleaned = () =>
      readFileSync(join(machine.data, '..', 'cleaned'), 'utf8')
        .trim()
        .split('\n')
        .sort();
    await until(() => cleaned().length === 3);
    expect(cleaned()).toEqual(['1-one 10020', '2-two 10040', '3-three 10060']);
    expect(existsSync(join(mine.root, 'node_modules'))).toBe(false);
    await rm(join(mine.root, '.env.test'));
  });
});
