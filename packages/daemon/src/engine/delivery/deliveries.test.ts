import { type Delivery, type DeliveryStatus, type EnvironmentRules, personActor, SpecDraft } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DeliveryBed, MINUTE, STAGING } from '../../../../../test/support/delivery-bed.ts';
import type { EngineBed } from '../../../../../test/support/engine-bed.ts';
import type { ScriptedDeliverer } from '../../../../../test/support/scripted-deliverer.ts';
import { createIds } from '../../clock.ts';
import type { StepEnd } from '../../ports.ts';
import { approveSpec } from '../flows/spec.ts';

const failed: StepEnd = { result: 'failed', note: 'exit code 1' };
const passed: StepEnd = { result: 'passed', note: 'exit code 0' };
const hungUp: StepEnd = { result: 'timed_out', note: 'it did not end within 10 s and was killed' };
const PRODUCTION: EnvironmentRules = { ...STAGING, name: 'production', after: 'staging' };

let mill: DeliveryBed;
let bed: EngineBed;
let deliverer: ScriptedDeliverer;

async function open(...delivery: EnvironmentRules[]): Promise<void> {
  mill = await DeliveryBed.open(delivery);
  ({ bed, deliverer } = mill);
}
const land = () => mill.land();
const deliveries = () => mill.deliveries();
const statuses = () => mill.statuses();
const environment = (name?: string) => mill.environment(name);
const questions = () => mill.questions();
const answer: DeliveryBed['answer'] = (text, by) => mill.answer(text, by);
const killed = () => mill.killed();

/** A specification with one task, built and judged. */
async function finishSpec(): Promise<void> {
  const draft = SpecDraft.parse({
    title: 'Parts',
    requirements: [{ id: 'R1', text: 'There are parts' }],
    tasks: [{ id: 'T1', title: 'Part', phase: 'api', requirements: ['R1'] }],
  });
  const source = { kind: 'file', ideaId: null, text: 'x' } as const;
  const by = personActor('ada');
  await bed.must({ type: 'spec.import', projectId: bed.projectId, specId: 'spec_1', draft, source, by });
  const spec = (await bed.store.record('spec', 'spec_1'))!;
  await approveSpec({ store: bed.store, ids: createIds(bed.clock) }, spec, { version: 1, override: true, by });
  await bed.pass(30 * MINUTE);
}

beforeEach(() => open(STAGING));
afterEach(() => bed.close());

describe('the delivery of what lands', () => {
  test('happens once for each commit, also after a restart; several landings at once are one delivery', async () => {
    const first = await land();
    await killed();
    expect(await statuses()).toEqual(['staging healthy']);
    expect(deliverer.ran).toEqual([`staging build ${first}`, `staging deploy ${first}`, `staging health ${first}`]);
    expect(await environment()).toMatchObject({ state: 'healthy', live: { commit: first, number: 1 } });

    // Two land while the third delivery of all is under way.
    deliverer.script = (_context, what) => (what === 'build' ? 'hang' : passed);
    await land();
    deliverer.script = () => passed;
    await land();
    const newest = await land();
    const open_ = (await deliveries()).at(-1)!;
    await bed.must({ type: 'delivery.stop', ...about(open_), by: personActor('ada') });
    await bed.pass(MINUTE);
    const all = await deliveries();
    expect(all.map(({ status }) => status)).toEqual(['healthy', 'rolled_back', 'healthy']);
    expect(all[2]).toMatchObject({ commit: newest, taskCount: 3 });
    expect(all[2]!.tasks.map((task) => task.number).sort()).toEqual([2, 3, 4]);
  });

  test('reaches the second environment only when the first is healthy with the same commit', async () => {
    await bed.close();
    await open(STAGING, PRODUCTION);
    deliverer.script = ({ environment: name }, what) => (name === 'staging' && what === 'health' ? failed : passed);
    await land();
    expect(await statuses()).toEqual(['staging failed']);
    deliverer.script = () => passed;
    const second = await land();
    expect(await statuses()).toEqual(['staging failed', 'staging healthy', 'production healthy']);
    expect(await environment('production')).toMatchObject({ live: { commit: second } });
  });

  test('leaves an environment as it is when the one before it goes back', async () => {
    await bed.close();
    await open(STAGING, PRODUCTION);
    // Production skips the first commit.
    deliverer.blocked = 'not now';
    const first = await land();
    deliverer.blocked = null;
    const second = await land();
    expect(await environment('production')).toMatchObject({ live: { commit: second } });
    await mill.request(first);
    await bed.pass(5 * MINUTE);
    expect(await environment('staging')).toMatchObject({ live: { commit: first } });
    expect(await environment('production')).toMatchObject({ live: { commit: second } });
    expect((await deliveries()).filter((each) => each.environment === 'production')).toHaveLength(1);
  });

  test('can follow a finished specification, once', async () => {
    await bed.close();
    await open({ ...STAGING, when: 'spec' });
    await land();
    expect(await statuses()).toEqual([]);
    await finishSpec();
    expect(await deliveries()).toMatchObject([{ status: 'healthy', cause: 'spec', specId: 'spec_1', taskCount: 2 }]);
    await land();
    await killed();
    expect(await statuses()).toEqual(['staging healthy']);
  });

  test('with notify_and_proceed tells people and begins', async () => {
    await bed.close();
    await open({ ...STAGING, approve: 'notify_and_proceed' });
    await land();
    expect(await statuses()).toEqual(['staging healthy']);
    expect(await bed.alerts()).toContain('info delivery_notice staging');
  });

  test('fails before anything runs when a variable is not set, and what was live stays', async () => {
    const first = await land();
    deliverer.blocked = '$TOKEN is not set where the daemon was started';
    await land();
    expect(await statuses()).toEqual(['staging healthy', 'staging failed']);
    expect((await deliveries())[1]!.why).toContain('$TOKEN is not set');
    expect(await environment()).toMatchObject({ state: 'healthy', live: { commit: first } });
  });
});

const about = ({ id: deliveryId, projectId, environment: name }: Delivery) => ({
  projectId,
  deliveryId,
  environment: name,
});

describe('the approval of a delivery', () => {
  beforeEach(async () => {
    await bed.close();
    await open({ ...STAGING, approve: 'requires_approval' });
  });

  test('a person approves exactly the commit that was shown; who did is recorded', async () => {
    const commit = await land();
    expect(await statuses()).toEqual(['staging waiting']);
    const [question] = await questions();
    expect(question).toMatchObject({
      type: 'blocking',
      text: `Is ${commit.slice(0, 10)} ready to be deployed to staging (D1)?`,
      context: expect.stringContaining('#1 Task 1'),
    });
    // What lands meanwhile does not change what was shown.
    await land();
    expect(await statuses()).toEqual(['staging waiting']);
    await answer('yes');
    const [first, second] = await deliveries();
    expect(first).toMatchObject({ commit, status: 'healthy', approved: { by: { kind: 'person', name: 'ada' } } });
    expect(second).toMatchObject({ status: 'waiting', taskCount: 1 });
  });

  test('a no delivers nothing, and the same commit is not asked about again', async () => {
    await land();
    await answer('Decline');
    await killed();
    expect(await statuses()).toEqual(['staging declined']);
    expect(await questions()).toEqual([]);
    expect(deliverer.ran).toEqual([]);
  });

  test('an agent cannot approve', async () => {
    await land();
    const reply = await answer('Approve', { kind: 'agent', id: 'agent-1', name: 'agent-1' });
    expect(reply).toMatchObject({ ok: false, refusal: { code: 'forbidden' } });
    expect(await statuses()).toEqual(['staging waiting']);
  });
});

describe('a delivery that goes wrong', () => {
  test('is rolled back to the last healthy commit after a failed check', async () => {
    const first = await land();
    deliverer.ran.length = 0;
    deliverer.script = (_context, what) => (what === 'health' ? failed : passed);
    const second = await land();
    expect(await statuses()).toEqual(['staging healthy', 'staging rolled_back']);
    expect(deliverer.ran).toEqual([
      ...[`staging build ${second}`, `staging deploy ${second}`, `staging health ${second}`],
      ...[`staging build ${first}`, `staging deploy ${first}`, `staging health after rollback ${first}`],
    ]);
    expect(await environment()).toMatchObject({ state: 'healthy', live: { commit: first } });
    expect(await bed.alerts()).toContain('error delivery_rolled_back staging');
    // The next good one ends the alert.
    deliverer.script = () => passed;
    await land();
    expect((await bed.alerts()).filter((each) => each.includes('delivery'))).toEqual([]);
  });

  test.each([
    ['half of it succeeds', failed, '`deploy`: exit code 1'],
    ['it hangs', hungUp, '`deploy`: it did not end within 10 s and was killed'],
  ])('is rolled back with its own commands when %s', async (_name, end, why) => {
    const first = await land();
    deliverer.rollbackCommands = ['undo'];
    deliverer.ran.length = 0;
    deliverer.script = (_context, what) => (what === 'deploy' ? end : passed);
    const second = await land();
    expect((await deliveries())[1]).toMatchObject({ status: 'rolled_back', why: expect.stringContaining(why) });
    expect(deliverer.ran).toEqual([
      ...[`staging build ${second}`, `staging deploy ${second}`],
      ...[`staging undo ${first}`, `staging health after rollback ${first}`],
    ]);
  });

  test('is not rolled back when GitHub does not start its workflow, and what is live stays', async () => {
    const first = await land();
    deliverer.workflow = 'deploy.yml';
    deliverer.script = () => ({ result: 'not_started', note: 'GitHub answered 403' });
    await land();
    expect((await deliveries())[1]).toMatchObject({
      status: 'failed',
      why: 'workflow deploy.yml: GitHub answered 403',
    });
    expect((await deliveries())[1]!.steps).toHaveLength(1);
    expect(await environment()).toMatchObject({ state: 'healthy', live: { commit: first } });
  });

  test('has failed when there is nothing to go back to, and that is told', async () => {
    deliverer.script = (_context, what) => (what === 'health' ? failed : passed);
    await land();
    expect(await statuses()).toEqual(['staging failed']);
    expect(await environment()).toMatchObject({ state: 'unknown', live: null });
    expect(await bed.alerts()).toContain('error delivery_failed staging');
  });

  test.each<[string, DeliveryStatus]>([
    ['It is live', 'rolled_back'],
    ['Leave it', 'rollback_failed'],
    ['Roll back', 'rolled_back'],
  ])('a rollback that fails too asks a person with the exact commands: %s', async (text, status) => {
    const first = await land();
    deliverer.rollbackCommands = ['undo --now'];
    deliverer.script = (_context, what) => (what === 'health' || what === 'undo --now' ? failed : passed);
    await land();
    expect(await statuses()).toEqual(['staging healthy', 'staging rollback_failed']);
    expect(await environment()).toMatchObject({ state: 'unknown', live: { commit: first } });
    expect(await bed.alerts()).toContain('error rollback_failed staging');
    const [question] = await questions();
    expect(question!.context).toContain('undo --now');
    expect(question!.context).toContain(first);
    // Nothing else begins there, whatever lands.
    await land();
    expect((await deliveries()).length).toBe(2);
    deliverer.script = () => passed;
    await answer(text);
    expect((await deliveries())[1]).toMatchObject({ status, endedAt: expect.any(Number) });
    const [ended] = (await bed.log('delivery.ended')).map(({ body }) => body).slice(1);
    expect(ended).toMatchObject({ now: { state: status === 'rolled_back' ? 'healthy' : 'unknown' } });
    // Then what landed meanwhile is delivered.
    expect((await deliveries())[2]).toMatchObject({ status: 'healthy' });
  });
});

describe('a delivery whose daemon is killed', () => {
  const hangAt = (step: string) => {
    deliverer.script = (_context, what) => (what === step ? 'hang' : passed);
  };

  test.each<[string, string, Partial<EnvironmentRules>, DeliveryStatus, string[]]>([
    ['in a command; the check passes, so a person is asked', 'deploy', {}, 'asking', ['health']],
    ['in a command without a check: a person is asked', 'deploy', { hasHealth: false }, 'asking', []],
    ['in a command that may be repeated', 'deploy', { repeatable: true }, 'healthy', ['build', 'deploy', 'health']],
    ['in the check', 'health', {}, 'healthy', ['health']],
  ])('is carried on by the next daemon: %s', async (_name, step, rules, status, after) => {
    await bed.close();
    await open({ ...STAGING, ...rules });
    deliverer.hasHealth = rules.hasHealth ?? true;
    await land();
    hangAt(step);
    const commit = await land();
    deliverer.ran.length = 0;
    deliverer.script = () => passed;
    await killed();
    expect((await deliveries())[1]).toMatchObject({ status });
    expect(deliverer.ran).toEqual(after.map((each) => `staging ${each} ${commit}`));
  });

  test.each(['deploy', 'health'])(
    'after a person stopped it in %s is not carried on, but rolled back',
    async (step) => {
      await bed.close();
      await open({ ...STAGING, repeatable: true });
      const first = await land();
      hangAt(step);
      const second = await land();
      await bed.stop();
      await bed.must({ type: 'delivery.stop', ...about((await deliveries())[1]!), by: personActor('ada') });
      deliverer.ran.length = 0;
      deliverer.script = () => passed;
      await bed.start();
      await bed.pass(MINUTE);
      expect((await deliveries())[1]).toMatchObject({ status: 'rolled_back', why: 'stopped by ada', commit: second });
      expect(deliverer.ran).toEqual([
        ...[`staging build ${first}`, `staging deploy ${first}`, `staging health after rollback ${first}`],
      ]);
    },
  );

  test.each<[string, string, DeliveryStatus]>([
    ['what has begun is asked about', 'deploy', 'asking'],
    ['what has not begun is cancelled', '', 'cancelled'],
  ])('and whose environment is removed from the settings: %s', async (_name, step, status) => {
    const commit = await land();
    hangAt(step);
    if (step !== '') await land();
    await bed.stop();
    if (step === '') await mill.request(commit);
    const { rules } = (await bed.store.project(bed.projectId))!;
    await bed.must({ type: 'project.configure', projectId: bed.projectId, rules: { ...rules, delivery: [] } });
    deliverer.ran.length = 0;
    await bed.start();
    await bed.pass(MINUTE);
    expect((await deliveries())[1]).toMatchObject({ status });
    expect(deliverer.ran).toEqual([]);
  });

  test('offers a person no rollback when there is nothing to go back to', async () => {
    hangAt('deploy');
    await land();
    deliverer.script = () => passed;
    await killed();
    expect(await statuses()).toEqual(['staging asking']);
    expect((await questions())[0]!.options.map(({ label }) => label)).toEqual(['It is live', 'Run it again']);
  });

  test('in a workflow is followed, not started again; a rollback starts another one', async () => {
    await land();
    deliverer.workflow = 'deploy.yml';
    hangAt('workflow 0');
    const second = await land();
    deliverer.script = () => passed;
    await killed();
    expect(deliverer.ran.slice(-3)).toEqual([
      ...[`staging workflow 0 ${second}`, `staging workflow 0 ${second}`, `staging health ${second}`],
    ]);
    expect((await deliveries())[1]).toMatchObject({ status: 'healthy' });
    deliverer.script = (_context, what) => (what === 'health' ? failed : passed);
    await land();
    expect(deliverer.ran.slice(-2)).toEqual([
      `staging workflow 1 ${second}`,
      `staging health after rollback ${second}`,
    ]);
  });

  test('between the last command and the check runs only the check', async () => {
    await land();
    hangAt('health');
    const second = await land();
    const delivery = (await deliveries())[1]!;
    const own = { ...about(delivery), owner: delivery.owner! };
    // As it is recorded before the status changes.
    await bed.must({ type: 'delivery.step_end', ...own, result: 'passed', note: '' });
    await bed.must({ type: 'delivery.move', ...own, to: 'running', why: '' });
    for (const name of ['build', 'deploy']) {
      await bed.must({ type: 'delivery.step_begin', ...own, kind: 'run', name });
      await bed.must({ type: 'delivery.step_end', ...own, result: 'passed', note: '' });
    }
    deliverer.ran.length = 0;
    deliverer.script = () => passed;
    await killed();
    expect(deliverer.ran).toEqual([`staging health ${second}`]);
    expect((await deliveries())[1]).toMatchObject({ status: 'healthy' });
  });

  test('in a command is rolled back when the check fails', async () => {
    const first = await land();
    hangAt('deploy');
    const second = await land();
    deliverer.ran.length = 0;
    deliverer.script = (_context, what) => (what === 'health' ? failed : passed);
    await killed();
    expect(await statuses()).toEqual(['staging healthy', 'staging rolled_back']);
    expect(deliverer.ran).toEqual([
      `staging health ${second}`,
      ...[`staging build ${first}`, `staging deploy ${first}`, `staging health after rollback ${first}`],
    ]);
    const steps = (await deliveries())[1]!.steps.map(({ kind, result }) => `${kind} ${result}`);
    expect(steps).toContain('run interrupted');
  });

  test.each<[string, DeliveryStatus]>([
    ['It is live', 'healthy'],
    ['Roll back', 'rolled_back'],
    ['Run it again', 'healthy'],
  ])('in a command follows the answer of a person: %s', async (text, status) => {
    const first = await land();
    hangAt('deploy');
    const second = await land();
    deliverer.script = () => passed;
    await killed();
    expect(await statuses()).toEqual(['staging healthy', 'staging asking']);
    expect((await questions())[0]!.text).toContain('D2 to staging was cut short');
    deliverer.ran.length = 0;
    await answer(text);
    expect((await deliveries())[1]).toMatchObject({ status });
    expect(await environment()).toMatchObject({
      state: 'healthy',
      live: { commit: status === 'healthy' ? second : first },
    });
    expect(deliverer.ran.length).toBe(text === 'It is live' ? 0 : 3);
  });

  test.each<[string, (what: string) => StepEnd, DeliveryStatus]>([
    ['passes', () => passed, 'rolled_back'],
    ['fails', (what) => (what === 'health after rollback' ? failed : passed), 'rollback_failed'],
  ])('in a rollback ends with the check, which %s', async (_name, then, status) => {
    await land();
    deliverer.rollbackCommands = ['undo'];
    deliverer.script = (_context, what) => (what === 'health' ? failed : what === 'undo' ? 'hang' : passed);
    await land();
    expect(await statuses()).toEqual(['staging healthy', 'staging rolling_back']);
    deliverer.ran.length = 0;
    deliverer.script = (_context, what) => then(what);
    await killed();
    expect((await deliveries())[1]).toMatchObject({ status });
    expect(deliverer.ran).toHaveLength(1);
  });
});
