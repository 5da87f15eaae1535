import { afterEach, describe, expect, test } from 'vitest';
import { DeliveryProgram, environment } from '../support/delivery-program.ts';

const MINUTE = 60_000;
let program: DeliveryProgram;
afterEach(() => program.close());

describe('a delivery to two environments', () => {
  test('follows what lands; a failing health check rolls the second one back by itself and says so', {
    timeout: 3 * MINUTE,
  }, async () => {
    program = new DeliveryProgram(
      environment(
        'staging',
        '      when: task\n      health: { run: \'test -s "$OUT/staging"\', tries: 2, interval: 50ms }',
      ),
      environment(
        'production',
        '      when: task\n      after: staging\n      health: { run: \'! grep -q 2.txt "$OUT/production"\', tries: 2, interval: 50ms }',
      ),
    );
    await program.add('Write the first');
    await program.machine.up(program.root);
    await program.machine.event(
      'delivery.ended',
      ({ environment: name, status }) => name === 'production' && status === 'healthy',
    );
    expect(program.liveIn('production')).toEqual(['1.txt', 'a.txt']);
    const first = program.repository.git('rev-parse', 'main');

    await program.add('Write the second');
    await program.machine.event(
      'delivery.ended',
      ({ environment: name, status }) => name === 'production' && status === 'rolled_back',
    );
    expect(program.liveIn('staging')).toEqual(['1.txt', '2.txt', 'a.txt']);
    expect(program.liveIn('production')).toEqual(['1.txt', 'a.txt']);
    const second = program.repository.git('rev-parse', 'main');

    expect(await program.environments()).toMatchObject([
      { name: 'staging', state: 'healthy', live: { commit: second } },
      { name: 'production', state: 'healthy', live: { commit: first }, current: null },
    ]);
    const all = await program.history();
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
    const inbox = await program.machine.run(['inbox'], program.root);
    expect(inbox.stdout).toContain('D4 to production failed and was rolled back');
    const shown = await program.machine.run(['deliver', 'show', 'D4'], program.root);
    expect(shown.stdout).toContain('#2 Write the second');
    const log = await program.machine.run(['deliver', 'log', 'D4'], program.root);
    expect(log.stdout).toContain('the health check failed 2 times');
    // The landed task stays landed.
    const { task } = await program.machine.ask(program.root, (api, project) => api.task({ project, task: 2 }));
    expect(task.stage).toBe('done');
  });
});
