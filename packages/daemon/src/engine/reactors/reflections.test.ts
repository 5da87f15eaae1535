import { createHash } from 'node:crypto';
import { isBuilding, LearningConfig, personActor, type Reflection } from '@tidemill/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import { assetDir } from '../../assets.ts';
import type { Agent, AgentEnd } from '../../ports.ts';
import { loadCatalogue } from '../../questions/catalogue.ts';

const MINUTE = 60_000;
const catalogue = loadCatalogue({ root: '/nowhere', builtinDir: assetDir('prompts/questions') });
const ASSUMED = 'The builder assumed that the file may contain the word bug, but the gate refuses it.';
const LESSON = 'Files such as file-1 must never contain the word bug, because the gate test refuses it.';

let bed: EngineBed;
afterEach(() => bed.close());

/** What the agent of the world does, by mode. */
interface World {
  builds(attempt: number): 'bug' | 'fine' | AgentEnd;
  prevents?: string;
}
const told: string[] = [];

function agentOf(world: World): Agent {
  const result = (envelope: object): AgentEnd => ({
    kind: 'result',
    envelope: { summary: 'done', ...envelope } as never,
  });
  return {
    label: 'scripted',
    start({ cwd, brief }, sink) {
      told.push(brief.mode);
      sink.usage({
        inputTokens: isBuilding(brief.mode) ? 200_000 : 900,
        outputTokens: 100,
        costUsd: 0.05,
        requests: 1,
      });
      const play = (): AgentEnd => {
        if (brief.mode === 'reflect')
          return result({
            outcome: 'reflected',
            reflection: { divergences: [], assumption: ASSUMED, evidence: 'gate test' },
          });
        if (brief.mode === 'prevent')
          return result({
            outcome: 'prevented',
            prevention: {
              kind: 'gotcha',
              text: world.prevents ?? LESSON,
              why: '',
              filePatterns: ['file-*'],
              action: null,
              topics: [],
            },
          });
        const built = world.builds(brief.attempt);
        if (typeof built !== 'string') return built;
        bed.repository.work(cwd)?.set(`file-${brief.task!.number}`, `${built} ${brief.attempt}`);
        return result({ outcome: 'pr_ready' });
      };
      return { end: Promise.resolve(play()), stop: async () => undefined };
    },
  };
}

async function open(world: World, reflection: object = { enabled: true }, more: object = {}): Promise<void> {
  told.length = 0;
  const learning = { enabled: true, experiments: true, reflection, promotion: { enabled: false } };
  const parts = { agentFor: () => agentOf(world), catalogue, ...more };
  bed = await EngineBed.open({ learning: LearningConfig.parse(learning) }, () => parts);
  await bed.add(1);
  await bed.start();
  await bed.pass(20 * MINUTE);
}
const reflections = async (): Promise<Reflection[]> =>
  bed.store.records({ noun: 'reflection', projectId: bed.projectId });

describe('after a task', () => {
  test('that gates sent back, two calls make a lesson of it; the review agent does them', async () => {
    await open({ builds: (attempt) => (attempt === 1 ? 'bug' : 'fine') });
    expect((await bed.store.task('task_1'))?.stage).toBe('done');
    const [reflection] = await reflections();
    expect(reflection).toMatchObject({
      status: 'done',
      why: 'gates sent the agent back once',
      outcome: 'lesson L1 was recorded',
      metrics: { tasks: 1, firstPass: 0, taught: 0 },
    });
    expect(reflection?.facts).toContain('sent back by gates once');
    expect(reflection?.facts).toContain('The change:');
    const [lesson] = await bed.store.records({ noun: 'lesson', projectId: bed.projectId });
    expect(lesson).toMatchObject({ text: LESSON, stage: 'experiment', origin: { taskIds: ['task_1'] } });
    expect(told.slice(-2)).toEqual(['reflect', 'prevent']);
    const jobs = await bed.store.records({ noun: 'job', projectId: bed.projectId });
    expect(jobs).toHaveLength(2);
    for (const { lastRunId } of jobs) expect((await bed.store.run(lastRunId!))?.workerId).toContain('review-agent');
  });

  test('that went as planned, nothing is asked', async () => {
    await open({ builds: () => 'fine' });
    expect((await bed.store.task('task_1'))?.stage).toBe('done');
    expect(await reflections()).toEqual([]);
    expect(told).toEqual(['implement']);
  });

  test('that went as planned and is one of twenty, what is worth repeating is asked', async () => {
    const hash = (text: string) => `000000${createHash('sha256').update(text).digest('hex')}`;
    await open({ builds: () => 'fine' }, { enabled: true }, { hash });
    const [reflection] = await reflections();
    expect(reflection).toMatchObject({ why: 'it went as planned; one in 20 such tasks is looked at', status: 'done' });
    expect(reflection?.facts).toContain('what of it is worth repeating');
    expect(told).toEqual(['implement', 'reflect', 'prevent']);
  });

  test('that is blocked, the next try is told which assumption failed', async () => {
    await open({ builds: () => 'bug' });
    expect((await bed.store.task('task_1'))?.blocked?.reason).toBe('validation');
    const { context = [] } = (await bed.store.task('task_1')) ?? {};
    expect(context.find(({ entryType }) => entryType === 'last_attempt')?.summary).toContain(ASSUMED);
  });

  test('trouble of the machine or the vendor teaches nothing', async () => {
    await open({ builds: () => ({ kind: 'failed', failure: 'network', message: 'offline', exitCode: null }) });
    expect(await reflections()).toEqual([]);
    expect(told).not.toContain('reflect');
  });

  test('a lesson that weakens the gates is refused, and the reflection says so', async () => {
    await open({
      builds: (attempt) => (attempt === 1 ? 'bug' : 'fine'),
      prevents: 'Skip the tests in src when they fail.',
    });
    const [reflection] = await reflections();
    expect(reflection).toMatchObject({
      status: 'done',
      lessonId: null,
      outcome: expect.stringContaining('was refused'),
    });
    expect(await bed.store.records({ noun: 'lesson', projectId: bed.projectId })).toEqual([]);
  });

  test('that failed, without the setting, a person is asked once; only a yes spends money, and then the task is looked at', async () => {
    await open({ builds: () => 'bug' }, {});
    const offers = async () =>
      (await bed.store.records({ noun: 'question', projectId: bed.projectId })).filter(({ sourceId }) =>
        sourceId.startsWith('reflection_offer/'),
      );
    await bed.add(2);
    await bed.pass(20 * MINUTE);
    expect(await reflections()).toEqual([]);
    const [offer, ...more] = await offers();
    expect(more).toEqual([]);
    expect(offer?.text).toContain('for at most $1.00 a day?');
    const by = personActor('ada');
    const said = { taskId: null, text: 'Yes', option: 'Yes', by, source: 'user' } as const;
    await bed.must({ type: 'question.answer', projectId: bed.projectId, questionId: offer!.id, ...said });
    await bed.pass(20 * MINUTE);
    expect(await reflections()).toMatchObject([{ about: { id: 'task_1' }, status: 'done' }]);
  });

  test('without the setting, nothing is asked', async () => {
    await open({ builds: (attempt) => (attempt === 1 ? 'bug' : 'fine') }, { enabled: false });
    expect(await reflections()).toEqual([]);
  });

  test('nothing is asked once its own budget is spent, and a restart asks nothing twice', async () => {
    await open({ builds: (attempt) => (attempt === 1 ? 'bug' : 'fine') }, { enabled: true, budgetUsdPerDay: 0.09 });
    expect(await reflections()).toHaveLength(1);
    await bed.stop();
    await bed.start();
    await bed.add(2);
    await bed.pass(20 * MINUTE);
    expect((await bed.store.task('task_2'))?.stage).toBe('done');
    expect(await reflections()).toHaveLength(1);
    expect(bed.notes.join('\n')).toContain('of 0.09 USD a day are spent');
  });

  test('both calls cost less than 3 % of the tokens of the work', async () => {
    await open({ builds: (attempt) => (attempt === 1 ? 'bug' : 'fine') });
    const runs = await bed.store.runsEnded({ projectId: bed.projectId, after: 0 });
    const tokens = async (modes: readonly string[]) => {
      const some = await Promise.all(
        runs.filter(({ mode }) => modes.includes(mode)).map(({ id }) => bed.store.run(id)),
      );
      return some.reduce((sum, run) => sum + run!.usage.inputTokens + run!.usage.outputTokens, 0);
    };
    expect(await tokens(['reflect', 'prevent'])).toBeLessThanOrEqual(0.03 * (await tokens(['implement'])));
  });
});
