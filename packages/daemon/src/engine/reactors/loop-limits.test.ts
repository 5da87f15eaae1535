import { loopId, type Mode, personActor } from '@tidemill/contract';
import { afterEach, expect, test } from 'vitest';
import { type EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import { MANY_IDEAS, openLoop, proposer, seenIn, slowAgent } from '../../../../../test/support/loop-bed.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ada = personActor('ada');

let bed: EngineBed;
afterEach(() => bed.close());

test('ten full cycles of the loop take under four hours each on average, and little more than their agents', async () => {
  const minutes: Partial<Record<Mode, number>> = { propose: 10, plan: 15, implement: 90, review: 20 };
  const time = (mode: Mode) => minutes[mode] ?? 1;
  const ideas = proposer(MANY_IDEAS);
  bed = await openLoop({
    ideas: MANY_IDEAS,
    rules: { defaultPipeline: 'feature' },
    deps: (self) => ({
      agentFor: (mode) => slowAgent(self, mode === 'propose' ? ideas : quickAgent(() => self.repository), time, 0.1),
    }),
  });
  await bed.pass(40 * HOUR);
  const landed = (await seenIn(bed).proposals()).filter(({ outcome }) => outcome === 'landed').slice(0, 10);
  expect(landed).toHaveLength(10);
  const modes = new Set((await bed.log('run.started')).map(({ body }) => 'mode' in body && body.mode));
  for (const mode of ['propose', 'plan', 'implement', 'review'])
    expect([mode, modes.has(mode as Mode)]).toEqual([mode, true]);
  // From its proposal to its landing, and from one landing to the next.
  const lead = landed.reduce((sum, { createdAt, endedAt }) => sum + endedAt! - createdAt, 0) / landed.length;
  const ends = landed.map(({ endedAt }) => endedAt!).sort((a, b) => a - b);
  const between = (ends.at(-1)! - ends[0]!) / (ends.length - 1);
  expect(lead).toBeLessThan(4 * HOUR);
  expect(between).toBeLessThan(4 * HOUR);
  const ofAgents = (minutes.plan! + minutes.implement! + minutes.review!) * MINUTE;
  expect(lead - ofAgents).toBeLessThan(2 * ofAgents);
});

test('the loop begins none of its tasks while its budget of a day is spent; other tasks go on', async () => {
  const builder = (self: EngineBed) =>
    slowAgent(
      self,
      quickAgent(() => self.repository),
      () => 1,
      1,
    );
  const agent = proposer(MANY_IDEAS);
  bed = await openLoop({
    ideas: MANY_IDEAS,
    loop: { min: 3, max: 4, budgetUsdPerDay: 2 },
    deps: (self) => ({ agentFor: (mode) => (mode === 'propose' ? agent : builder(self)) }),
  });
  await bed.pass(HOUR);
  const built = async () => (await seenIn(bed).proposals()).filter(({ outcome }) => outcome === 'landed').length;
  const landed = await built();
  // Two dollars, and at most what both workers had begun.
  expect(landed).toBeGreaterThanOrEqual(2);
  expect(landed).toBeLessThanOrEqual(4);
  expect(await bed.store.tasks({ projectId: bed.projectId, stages: ['open'] })).not.toEqual([]);
  const { heldUntil } = (await bed.store.record('loop', loopId(bed.projectId)))!;
  expect(heldUntil).toBeGreaterThan(bed.clock.now());
  const asked = (await seenIn(bed).used()).length;
  await bed.must({
    ...{
      type: 'task.create',
      projectId: bed.projectId,
      taskId: 'task_own',
      title: 'My own',
      body: '',
      kind: 'feature',
    },
    ...{ accept: [], files: [], dependsOn: [], priority: 2 },
  });
  await bed.pass(2 * HOUR);
  expect(await bed.store.task('task_own')).toMatchObject({ stage: 'done' });
  expect(await built()).toBe(landed);
  expect(await seenIn(bed).used()).toHaveLength(asked);
  expect(await seenIn(bed).alertText('loop_stalled')).toContain("The loop's budget of a day is spent until");
  const refused = await bed.store.execute({ type: 'loop.propose', projectId: bed.projectId, category: 'x', by: ada });
  expect(refused).toMatchObject({ ok: false, refusal: { code: 'budget_exhausted' } });
  await bed.pass(24 * HOUR);
  expect(await built()).toBeGreaterThan(landed);
});

test('a higher budget lets the loop go on within a minute, and so does switching it on', async () => {
  bed = await openLoop({ ideas: { a: 'nothing' }, loop: { budgetUsdPerDay: 1 } });
  const until = bed.clock.now() + HOUR;
  await bed.must({ type: 'loop.hold', projectId: bed.projectId, until });
  await bed.pass(2 * MINUTE);
  expect(await bed.store.record('loop', loopId(bed.projectId))).toMatchObject({ heldUntil: null });
  await bed.must({ type: 'loop.hold', projectId: bed.projectId, until });
  await bed.must({ type: 'loop.switch', projectId: bed.projectId, on: true, by: ada });
  expect(await bed.store.record('loop', loopId(bed.projectId))).toMatchObject({ heldUntil: null });
});
