import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryView } from '@tidemill/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { DeliveryProgram, environment } from '../support/delivery-program.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
let program: DeliveryProgram;
afterEach(() => program.close());

describe('a delivery by hand', () => {
  test('needs approval, evidence and the earlier environment, or a person who overrides; shows no secret', {
    timeout: 3 * MINUTE,
  }, async () => {
    program = new DeliveryProgram(
      environment('staging', '      pass: [DEPLOY_KEY]\n      health: { run: \'echo "key $DEPLOY_KEY"\' }'),
      environment('production', '      after: staging\n      approve: requires_approval'),
    );
    await program.add('Write the first');
    const { code, stderr } = await program.machine.run(['up', '--until-idle', '--plain'], program.root);
    expect(code, stderr).toBe(0);
    // Without a daemon the request is kept.
    const offline = await program.machine.run(['deliver', 'staging'], program.root);
    expect(offline.stdout).toContain('It begins when the daemon runs');
    await program.machine.up(program.root);
    await program.machine.event('delivery.ended', ({ number }) => number === 1);
    expect(await program.machine.json(['deliver', 'history'], program.root)).toMatchObject([
      { ref: 'D1', status: 'healthy', by: { name: expect.any(String) } },
    ]);
    const files = [
      (await program.machine.run(['deliver', 'log', 'D1'], program.root)).stdout,
      JSON.stringify(await program.machine.events(program.root)),
    ];
    expect(files[0]).toContain('key ***');
    for (const text of files) expect(text).not.toContain('kippers');

    const refused = async (...args: string[]) => {
      const result = await program.machine.run(['deliver', ...args], program.root);
      expect(result.code).not.toBe(0);
      return result.stderr;
    };
    expect(await refused('stagin')).toContain('did you mean staging?');
    expect(await refused('staging', '--commit', 'no-such-tag')).toContain('is not a commit on main');
    expect(await refused('production', '--commit', 'main~1')).toContain('production comes after staging');
    expect(await refused('rollback', 'staging', '--yes')).toContain('no earlier healthy commit in staging');
    expect(await refused('rollback', 'staging')).toContain('Add --yes to confirm');
    expect(await refused('approve', 'D1')).toContain('does not wait for approval');
    expect(await refused('stop', 'D1')).toContain('D1 has ended');
    expect(await refused('show', 'D9')).toContain('there is no delivery D9');

    const asked = await program.machine.run(['deliver', 'production'], program.root);
    expect(asked.stdout).toContain('D2 to production: waiting');
    expect(asked.stdout).toContain('It waits for you');
    const [question] = await program.machine.json<{ ref: string; text: string }[]>(['questions'], program.root);
    expect(question!.text).toContain('ready to be deployed to production (D2)');
    await program.machine.run(['answer', question!.ref, 'yes'], program.root);
    await program.machine.event('delivery.ended', ({ number }) => number === 2);
    expect((await program.history())[0]).toMatchObject({ status: 'healthy', approved: { by: { kind: 'person' } } });
    expect(program.liveIn('production')).toEqual(['1.txt', 'a.txt']);

    // The commit before Tidemill's own has no evidence. Ada takes it on herself.
    const over = ['production', '--commit', 'main~1', '--override', 'the release of yesterday', '--approve'];
    const forced = await program.machine.json<DeliveryView>(['deliver', ...over], program.root);
    expect(forced).toMatchObject({
      status: 'healthy',
      override: { gates: ['integrity', 'test'], after: 'staging', why: 'the release of yesterday' },
    });
    expect(program.liveIn('production')).toEqual(['a.txt']);
    expect(await program.machine.json(['deliver', 'status'], program.root)).toMatchObject([
      { name: 'staging', state: 'healthy' },
      { name: 'production', state: 'healthy', live: { commit: forced.commit } },
    ]);
    const back = await program.machine.json<DeliveryView>(['deliver', 'rollback', 'production', '--yes'], program.root);
    expect(back).toMatchObject({ status: 'healthy', cause: 'rollback' });
    expect(program.liveIn('production')).toEqual(['1.txt', 'a.txt']);

    const { url, token } = JSON.parse(readFileSync(join(program.machine.data, 'daemon.json'), 'utf8')) as Record<
      string,
      string
    >;
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect(await metrics.text()).toContain('environment="production"} 1');

    const notes = await program.machine.run(['release', 'notes', '--from', 'main~1'], program.root);
    expect(notes.stdout).toContain('- Write the first (#1)');
    expect((await program.machine.run(['release', 'notes', '--from', 'v9'], program.root)).stderr).toContain(
      'no commit, tag or branch v9',
    );
    expect((await program.machine.run(['release', 'one'], program.root)).stderr).toContain('"one" is not a version');
    const release = await program.machine.json<{ number: number; title: string }>(
      ['release', '1.2.0', '--from', 'main~1'],
      program.root,
    );
    expect(release).toMatchObject({ number: 2, title: 'Release 1.2.0' });
  });
});

describe('a daemon that is killed', () => {
  /** The command stops where the test can see it, until a file lets it go on. */
  const held = `    - name: staging
      run: ['echo begun >> "$OUT/begun"; until [ -e "$OUT/go" ]; do sleep 0.05; done', 'ls src > "$OUT/staging"']
      env: { OUT: "$LIVE" }
      writable: ["$LIVE"]
      when: task
      health: { run: 'test -e "$OUT/well"', tries: 1 }`;
  const begun = () => readFileSync(join(program.live, 'begun'), 'utf8').trim().split('\n').length;

  test('in a command ends its processes and repeats nothing; the failing check rolls back or tells', {
    timeout: 3 * MINUTE,
  }, async () => {
    program = new DeliveryProgram(held);
    await program.add('Write the first');
    const first = await program.machine.up(program.root);
    await program.machine.event('delivery.step_began', ({ step }) => step.kind === 'run');
    await until(() => existsSync(join(program.live, 'begun')));
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await program.machine.up(program.root);
    await program.machine.event('delivery.ended');
    expect(await program.history()).toMatchObject([{ ref: 'D1', status: 'failed' }]);
    expect((await program.history())[0]!.steps.map(({ kind, result }) => `${kind} ${result}`)).toEqual([
      'prepare passed',
      'run interrupted',
      'health failed',
    ]);
    // Whatever the killed one was waiting for: it does not go on.
    writeFileSync(join(program.live, 'go'), '');
    expect(begun()).toBe(1);
    expect(existsSync(join(program.live, 'staging'))).toBe(false);

    // The same with a healthy environment: a person is asked.
    rmSync(join(program.live, 'go'));
    writeFileSync(join(program.live, 'well'), '');
    await program.machine.run(['deliver', 'staging', '--no-wait'], program.root);
    await program.machine.event('delivery.step_began', ({ number, step }) => number === 2 && step.kind === 'run');
    second.child.kill('SIGKILL');
    await second.ended;
    await program.machine.up(program.root);
    await program.machine.event('delivery.moved', ({ status }) => status === 'asking');
    const [question] = await program.machine.json<{ ref: string; text: string }[]>(['questions'], program.root);
    expect(question!.text).toContain('D2 to staging was cut short');
    writeFileSync(join(program.live, 'go'), '');
    await program.machine.run(['answer', question!.ref, 'Run it again'], program.root);
    await program.machine.event('delivery.ended', ({ number }) => number === 2);
    expect((await program.environments())[0]).toMatchObject({ state: 'healthy', live: { number: 2 } });
    expect(program.liveIn('staging')).toEqual(['1.txt', 'a.txt']);
  });
});
