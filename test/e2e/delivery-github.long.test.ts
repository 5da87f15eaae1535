import type { DeliveryView, EnvironmentView } from '@tidemill/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { TROUBLES } from '../support/github/exchange.ts';
import { GithubBed } from '../support/github/github-bed.ts';
import { until } from '../support/until.ts';

const TIMEOUT = { timeout: 90_000 };

let bed: GithubBed;
afterEach(() => bed.close());

const history = () => bed.machine.json<DeliveryView[]>(['deliver', 'history'], bed.root);
const stepsOf = ({ steps }: DeliveryView) => steps.map(({ kind, result }) => `${kind} ${result}`);

describe('a commit that people merge or push', TIMEOUT, () => {
  const config = `pullRequest: { poll: 300ms }
delivery:
  environments:
    - { name: staging, run: ["true"], when: task, approve: automated }
`;

  test('is proven before it is delivered; one that fails its gates is refused and told', async () => {
    bed = await GithubBed.open({ config });
    bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    await bed.up();
    const number = await bed.add('Write apples');
    const { pull } = await bed.pull(number);
    // Ada squashes it on top of what Bob pushed meanwhile: no gate has seen the two together.
    bed.github.faults.plan(
      {},
      {
        kind: 'first',
        act: async () => {
          await bed.push('theirs.txt', 'theirs\n');
          await bed.github.pulls.mergeByHand(pull, 'squash', 'ada');
        },
      },
    );
    await bed.machine.event('delivery.ended');
    const { landedCommit } = await bed.task(number);
    const [first] = await history();
    expect(first).toMatchObject({
      commit: landedCommit,
      status: 'healthy',
      tasks: [{ number }],
      evidence: [{ gate: 'integrity' }, { gate: 'test' }],
      unproven: [],
      override: null,
    });
    expect(stepsOf(first!)).toEqual(['prove passed', 'prepare passed', 'run passed']);

    // A person commits to the target, and the gate fails there.
    bed.repository.git('rm', '-q', 'agent.sh');
    bed.repository.git('commit', '-q', '-m', 'Drop the agent');
    const refused = await bed.machine.run(['deliver', 'staging', '--commit', 'main'], bed.root);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('it does not pass test');
    expect(stepsOf((await history())[0]!)).toEqual(['prove failed']);
    expect((await bed.machine.run(['inbox'], bed.root)).stdout).toMatch(/D2 to staging failed: it does not pass test/);
    const again = await bed.machine.run(['deliver', 'staging', '--commit', 'main'], bed.root);
    expect(again.stderr).toMatch(/fails test under the present settings/);
    const forced = ['deliver', 'staging', '--commit', 'main', '--override', 'it is needed'];
    expect(await bed.machine.json<DeliveryView>(forced, bed.root)).toMatchObject({ status: 'healthy' });
    const doctor = await bed.machine.run(['doctor'], bed.root);
    expect(doctor.stdout + doctor.stderr).not.toMatch(/evidence.*(missing|unknown|changed)/i);
  });
});

describe('a workflow delivers', TIMEOUT, () => {
  const workflow = `run-name: Deploy \${{ inputs.delivery }}
on:
  workflow_dispatch:
    inputs: { environment: { type: string }, commit: { type: string }, delivery: { type: string } }
jobs: {}
`;
  const config = `pullRequest: { poll: 300ms }
delivery:
  environments:
    - { name: staging, workflow: deploy.yml, when: manual, approve: automated }
`;

  test('once, also when the daemon is killed after it asked GitHub; a refusal changes nothing', async () => {
    bed = await GithubBed.open({ config, files: { '.github/workflows/deploy.yml': workflow } });
    bed.github.actions.lateBy = 2;
    await bed.up();
    const commit = bed.repository.git('rev-parse', 'main');
    await bed.machine.run(['deliver', 'staging', '--commit', 'main', '--no-wait'], bed.root);
    await until(() => bed.github.actions.runs.length > 0);
    await bed.kill();
    await bed.up();
    await bed.machine.event('delivery.ended');
    expect((await history())[0]).toMatchObject({ status: 'healthy', commit });
    expect(stepsOf((await history())[0]!)).toEqual(['prove passed', 'workflow interrupted', 'workflow passed']);
    expect(bed.github.actions.runs.map(({ inputs }) => inputs)).toEqual([
      { environment: 'staging', commit, delivery: expect.stringContaining('delivery_') },
    ]);

    bed.github.faults.plan({ path: /\/dispatches$/ }, TROUBLES.forbidden);
    const refused = await bed.machine.run(['deliver', 'staging', '--commit', 'main'], bed.root);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('Resource not accessible by personal access token');
    const [environment] = await bed.machine.json<EnvironmentView[]>(['deliver', 'status'], bed.root);
    expect(environment).toMatchObject({ state: 'healthy', live: { commit, number: 1 } });
    expect(bed.github.actions.runs).toHaveLength(1);
  });
});
