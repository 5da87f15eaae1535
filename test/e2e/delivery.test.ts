import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryView, EnvironmentView } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const AGENT = {
  default: { implement: [{ write: { path: 'src/{taskNumber}.txt', content: 'fine\n' } }, { result: {} }] },
};

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let live: string;

beforeEach(() => {
  machine = new TidemillHome({ DEPLOY_KEY: 'kippers-at-noon' });
  repository = new TemporaryRepository({
    'src/a.txt': 'ok\n',
    'agent.json': JSON.stringify(AGENT),
    '.gitignore': '.tidemill/\n',
  });
  root = repository.root;
  live = join(repository.folder, 'live');
  mkdirSync(live);
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

function configure(...environments: string[]): void {
  const config = `target: main
pipeline: quick
agents:
  default: { type: scripted, script: agent.json }
gates:
  - { name: test, run: "true" }
delivery:
  environments:
${environments.map((text) => text.replaceAll('$LIVE', live)).join('\n')}
`;
  repository.write({ '.tidemill/config.yaml': config });
}

/** What is live: the names of the files in `src`, and the commit. */
const environment = (name: string, more: string) => `    - name: ${name}
      run: ['ls src > "$OUT/${name}.new"', 'mv "$OUT/${name}.new" "$OUT/${name}"']
      env: { OUT: "$LIVE" }
      writable: ["$LIVE"]
${more}`;

const add = (title: string) => machine.run(['task', 'add', title, '--accept', 'a file exists'], root);
const liveIn = (name: string) => readFileSync(join(live, name), 'utf8').trim().split('\n');
const history = () => machine.json<DeliveryView[]>(['deliver', 'history'], root);
const environments = () => machine.json<EnvironmentView[]>(['deliver', 'status'], root);

describe('a delivery to two environments', () => {
  test('follows what lands; a failing health check rolls the second one back by itself and says so', {
    timeout: 3 * MINUTE,
  }, async () => {
    configure(
      environment(
        'staging',
        '      when: task\n      health: { run: \'test -s "$OUT/staging"\', tries: 2, interval: 50ms }',
      ),
      environment(
        'production',
        '      when: task\n      after: staging\n      health: { run: \'! grep -q 2.txt "$OUT/production"\', tries: 2, interval: 50ms }',
      ),
    );
    await add('Write the first');
    await machine.up(root);
    await machine.event(
      'delivery.ended',
      ({ environment: name, status }) => name === 'production' && status === 'healthy',
    );
    expect(liveIn('production')).toEqual(['1.txt', 'a.txt']);
    const first = repository.git('rev-parse', 'main');

    await add('Write the second');
    await machine.event(
      'delivery.ended',
      ({ environment: name, status }) => name === 'production' && status === 'rolled_back',
    );
    expect(liveIn('staging')).toEqual(['1.txt', '2.txt', 'a.txt']);
    expect(liveIn('production')).toEqual(['1.txt', 'a.txt']);
    const second = repository.git('rev-parse', 'main');

    expect(await environments()).toMatchObject([
      { name: 'staging', state: 'healthy', live: { commit: second } },
      { name: 'production', state: 'healthy', live: { commit: first }, current: null },
    ]);
    const all = await history();
    expect(all.map(({ ref, environment: name, status }) => `${ref} ${name} ${status}`)).toEqual([
      'D4 production rolled_back',
      'D3 staging healthy',
      'D2 production healthy',
      'D1 staging healthy',
    ]);
    expect(all[0]).toMatchObject({
      commit: second,
      taskCount: 1,
      tasks: [{ number: 2, title: 'Write the second' }],
      why: expect.stringContaining('the health check failed 2 times'),
      evidence: [
        { gate: 'integrity', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { gate: 'test', hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ],
      previous: { commit: first },
    });
    expect(all[0]!.steps.map(({ kind, result }) => `${kind} ${result}`)).toEqual([
      'prepare passed',
      'run passed',
      'run passed',
      'health failed',
      'prepare passed',
      'rollback passed',
      'rollback passed',
      'rollback_health passed',
    ]);
    const inbox = await machine.run(['inbox'], root);
    expect(inbox.stdout).toContain('D4 to production failed and was rolled back');
    const shown = await machine.run(['deliver', 'show', 'D4'], root);
    expect(shown.stdout).toContain('#2 Write the second');
    const log = await machine.run(['deliver', 'log', 'D4'], root);
    expect(log.stdout).toContain('the health check failed 2 times');
    // The landed task stays landed.
    const { task } = await machine.json<{ task: { stage: string } }>(['task', 'show', '2'], root);
    expect(task.stage).toBe('done');
  });
});

describe('a delivery by hand', () => {
  test('needs approval, evidence and the earlier environment, or a person who overrides; shows no secret', {
    timeout: 3 * MINUTE,
  }, async () => {
    configure(
      environment('staging', '      pass: [DEPLOY_KEY]\n      health: { run: \'echo "key $DEPLOY_KEY"\' }'),
      environment('production', '      after: staging\n      approve: requires_approval'),
    );
    await add('Write the first');
    const { code, stderr } = await machine.run(['up', '--until-idle', '--plain'], root);
    expect(code, stderr).toBe(0);
    // Without a daemon the request is kept.
    const offline = await machine.run(['deliver', 'staging'], root);
    expect(offline.stdout).toContain('It begins when the daemon runs');
    await machine.up(root);
    await machine.event('delivery.ended', ({ number }) => number === 1);
    expect(await history()).toMatchObject([{ ref: 'D1', status: 'healthy', by: { name: expect.any(String) } }]);
    const files = [
      (await machine.run(['deliver', 'log', 'D1'], root)).stdout,
      JSON.stringify(await machine.events(root)),
    ];
    expect(files[0]).toContain('key ***');
    for (const text of files) expect(text).not.toContain('kippers');

    const refused = async (...args: string[]) => {
      const result = await machine.run(['deliver', ...args], root);
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

    const asked = await machine.run(['deliver', 'production'], root);
    expect(asked.stdout).toContain('D2 to production: waiting');
    expect(asked.stdout).toContain('It waits for you');
    const [question] = await machine.json<{ ref: string; text: string }[]>(['questions'], root);
    expect(question!.text).toContain('ready to be deployed to production (D2)');
    await machine.run(['answer', question!.ref, 'yes'], root);
    await machine.event('delivery.ended', ({ number }) => number === 2);
    expect((await history())[0]).toMatchObject({ status: 'healthy', approved: { by: { kind: 'person' } } });
    expect(liveIn('production')).toEqual(['1.txt', 'a.txt']);

    // The commit before Tidemill's own has no evidence. Ada takes it on herself.
    const over = ['production', '--commit', 'main~1', '--override', 'the release of yesterday', '--approve'];
    const forced = await machine.json<DeliveryView>(['deliver', ...over], root);
    expect(forced).toMatchObject({
      status: 'healthy',
      override: { gates: ['integrity', 'test'], after: 'staging', why: 'the release of yesterday' },
    });
    expect(liveIn('production')).toEqual(['a.txt']);
    const back = await machine.json<DeliveryView>(['deliver', 'rollback', 'production', '--yes'], root);
    expect(back).toMatchObject({ status: 'healthy', cause: 'rollback' });
    expect(liveIn('production')).toEqual(['1.txt', 'a.txt']);

    const { url, token } = JSON.parse(readFileSync(join(machine.data, 'daemon.json'), 'utf8')) as Record<
      string,
      string
    >;
    const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect(await metrics.text()).toContain('environment="production"} 1');

    const notes = await machine.run(['release', 'notes', '--from', 'main~1'], root);
    expect(notes.stdout).toContain('- Write the first (#1)');
    expect((await machine.run(['release', 'notes', '--from', 'v9'], root)).stderr).toContain(
      'no commit, tag or branch v9',
    );
    expect((await machine.run(['release', 'one'], root)).stderr).toContain('"one" is not a version');
    const release = await machine.json<{ number: number; title: string }>(
      ['release', '1.2.0', '--from', 'main~1'],
      root,
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
  const begun = () => readFileSync(join(live, 'begun'), 'utf8').trim().split('\n').length;

  test('in a command: its processes end with it, nothing is run again, and the failing check rolls back or tells', {
    timeout: 3 * MINUTE,
  }, async () => {
    configure(held);
    await add('Write the first');
    const first = await machine.up(root);
    await machine.event('delivery.step_began', ({ step }) => step.kind === 'run');
    await until(() => existsSync(join(live, 'begun')));
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await machine.up(root);
    await machine.event('delivery.ended');
    expect(await history()).toMatchObject([{ ref: 'D1', status: 'failed' }]);
    expect((await history())[0]!.steps.map(({ kind, result }) => `${kind} ${result}`)).toEqual([
      'prepare passed',
      'run interrupted',
      'health failed',
    ]);
    // Whatever the killed one was waiting for: it does not go on.
    writeFileSync(join(live, 'go'), '');
    expect(begun()).toBe(1);
    expect(existsSync(join(live, 'staging'))).toBe(false);

    // The same with a healthy environment: a person is asked.
    rmSync(join(live, 'go'));
    writeFileSync(join(live, 'well'), '');
    await machine.run(['deliver', 'staging', '--no-wait'], root);
    await machine.event('delivery.step_began', ({ number, step }) => number === 2 && step.kind === 'run');
    second.child.kill('SIGKILL');
    await second.ended;
    await machine.up(root);
    await machine.event('delivery.moved', ({ status }) => status === 'asking');
    const [question] = await machine.json<{ ref: string; text: string }[]>(['questions'], root);
    expect(question!.text).toContain('D2 to staging was cut short');
    writeFileSync(join(live, 'go'), '');
    await machine.run(['answer', question!.ref, 'Run it again'], root);
    await machine.event('delivery.ended', ({ number }) => number === 2);
    expect((await environments())[0]).toMatchObject({ state: 'healthy', live: { number: 2 } });
    expect(liveIn('staging')).toEqual(['1.txt', 'a.txt']);
  });
});
