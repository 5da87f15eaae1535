import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeliveryView, EnvironmentView } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
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
