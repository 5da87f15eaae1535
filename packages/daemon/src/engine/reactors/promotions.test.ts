import { ENGINE, isBuilding, LearningConfig, type Lesson, personActor } from '@tidemill/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import { assetDir } from '../../assets.ts';
import type { Agent, AgentEnd, Briefing, Knowledge, Prompts } from '../../ports.ts';
import { loadCatalogue } from '../../questions/catalogue.ts';
import { promoteLesson } from '../learning/instructions.ts';

const MINUTE = 60_000;
const GOOD = 'Files named file-N must have the word fine, because the gate test refuses others.';
const BAD = 'Files named file-N should have the word that the gate refuses.';
const USELESS = 'Files named file-N are read by the command line at its start.';

const catalogue = loadCatalogue({ root: '/nowhere', builtinDir: assetDir('prompts/questions') });
const knowledge: Knowledge = {
  gotchas: async () => [],
  all: async () => [],
  instructions: async () => ['', '# Rules of the house'],
};

let bed: EngineBed;
afterEach(async () => {
  mistaken = 8;
  await bed.close();
});

/** The prompt is the list of lessons, so that the agent can follow them. */
const briefing = (prompt: string): Briefing => ({
  prompt,
  promptTokens: 1,
  dropped: [],
  model: null,
  tools: null,
  maxTurns: null,
  timeoutMs: null,
});
const prompts: Prompts = {
  render: async ({ lessons = [] }) => briefing(lessons.map(({ text }) => text).join('\n')),
  renderJob: async () => briefing(''),
};

/** Without a lesson it makes the mistake on these tasks at the first try; with the bad one on all. */
let mistaken = 8;
const agent: Agent = {
  label: 'scripted',
  start({ cwd, brief }, sink) {
    sink.usage({ inputTokens: 10, outputTokens: 1, costUsd: 0.01, requests: 1 });
    const { number } = brief.task!;
    const isWrong = brief.prompt.includes(BAD) || (number <= mistaken && !brief.prompt.includes(GOOD));
    const word = isWrong && brief.feedback.length === 0 ? 'bug' : 'fine';
    if (isBuilding(brief.mode)) bed.repository.work(cwd)?.set(`file-${number}`, `${word}-${brief.attempt}`);
    const end: AgentEnd = { kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } };
    return { end: Promise.resolve(end), stop: async () => undefined };
  },
};

/** Ten landed tasks, and lessons that were seen twice. */
async function open(texts: string[], promotion: object = { enabled: true }): Promise<void> {
  const learning = LearningConfig.parse({ experiments: false, promotion });
  bed = await EngineBed.open({ learning }, () => ({ agentFor: () => agent, prompts, catalogue, knowledge }));
  for (let number = 1; number <= 10; number += 1) await bed.add(number, { files: [`file-${number}`] });
  await bed.start();
  await bed.pass(30 * MINUTE);
  const { projectId } = bed;
  for (const [index, text] of texts.entries()) {
    const draft = {
      kind: 'gotcha' as const,
      text,
      why: '',
      filePatterns: ['file-*'],
      action: null,
      topics: [],
      scope: 'project' as const,
    };
    const origin = { traceIds: [], taskIds: ['task_9'], runId: null, by: personActor('ada') };
    const lessonId = `lesson_${index + 1}`;
    await bed.must({ type: 'lesson.record', projectId, lessonId, draft, origin, control: { good: 0, total: 20 } });
    await bed.must({
      type: 'lesson.advance',
      projectId,
      lessonId,
      to: 'validated',
      why: 'seen twice',
      proof: null,
      by: ENGINE,
    });
  }
  await bed.pass(240 * MINUTE);
}
/** Tidemill itself has drafted L1 from the tasks that failed in the same way. */
const lesson = async (number: number): Promise<Lesson> => (await bed.store.record('lesson', `lesson_${number}`))!;
const landed = () => bed.repository.landed.length;

describe('a validated lesson', () => {
  test('goes to production by a paired replay on tasks that it was not learned from; nothing lands', async () => {
    await open([GOOD]);
    const found = await lesson(1);
    expect(found).toMatchObject({ stage: 'production', proof: { pairs: 9, placeboGain: 0 } });
    expect(found.proof!.low).toBeGreaterThan(0);
    const [replay] = await bed.store.records({ noun: 'replay', projectId: bed.projectId });
    expect(replay).toMatchObject({ status: 'done', purpose: { kind: 'lesson', id: 'lesson_1' } });
    expect(replay!.tasks.map(({ number }) => number)).not.toContain(9);
    expect(replay!.variants.map(({ name }) => name)).toEqual(['without L2', 'with L2', 'placebo']);
    expect(landed()).toBe(10);
    expect(await bed.store.records({ noun: 'alert', projectId: bed.projectId, isOpen: true })).toEqual([]);
  });

  test('that harms is retired, and one that is useless stays and is not tried again at once', async () => {
    mistaken = 0;
    await open([BAD, USELESS]);
    expect(await lesson(1)).toMatchObject({ stage: 'retired', retiredWhy: expect.stringContaining('worse on') });
    expect((await lesson(2)).stage).toBe('validated');
    const replays = await bed.store.records({ noun: 'replay', projectId: bed.projectId });
    expect(replays.filter(({ purpose }) => purpose.id === 'lesson_2')).toHaveLength(1);
    expect(bed.notes.join('\n')).toContain('L2 (R2) stays validated');
  });

  test('stays where it is without the setting, and while the budget of the day is spent', async () => {
    await open([GOOD], { enabled: false });
    expect((await lesson(1)).stage).toBe('validated');
    expect(await bed.store.records({ noun: 'replay', projectId: bed.projectId })).toEqual([]);
    await bed.close();
    await open([USELESS, GOOD], { enabled: true, budgetUsdPerDay: 0.1 });
    const replays = await bed.store.records({ noun: 'replay', projectId: bed.projectId });
    expect(replays.reduce((sum, { spentUsd }) => sum + spentUsd, 0)).toBeLessThanOrEqual(0.15);
    expect(await lesson(1)).toMatchObject({ stage: 'validated' });
  });

  test('continues after a restart in the middle, without a second replay', async () => {
    await open([GOOD], { enabled: false });
    const { store, projectId } = bed;
    const { rules } = (await store.project(projectId))!;
    await bed.stop();
    await bed.must({
      type: 'project.configure',
      projectId,
      rules: { ...rules, learning: LearningConfig.parse({ promotion: { enabled: true } }) },
    });
    await bed.start();
    await bed.pass(2_000);
    await bed.stop();
    await bed.start();
    await bed.pass(120 * MINUTE);
    expect((await lesson(1)).stage).toBe('production');
    expect(await store.records({ noun: 'replay', projectId })).toHaveLength(1);
  });
});

describe('a promotion into the instructions', () => {
  const by = personActor('ada');
  const sources = async () => ({
    store: bed.store,
    project: (await bed.store.project(bed.projectId))!,
    ids: { next: (prefix: string) => `${prefix}_promotion` },
  });
  /** Confidence and occurrences as after three tasks that it helped. */
  const confirmed = async () => {
    for (const taskId of ['task_1', 'task_2', 'task_3'])
      await bed.must({
        type: 'lesson.confirm',
        projectId: bed.projectId,
        lessonId: 'lesson_1',
        origin: { traceIds: [], taskIds: [taskId], runId: null, by },
      });
    for (let run = 1; run <= 8; run += 1) {
      const use = { projectId: bed.projectId, runId: `run_${run}`, taskId: 'task_1', lessonIds: ['lesson_1'] };
      await bed.must({ type: 'lesson.inject', ...use, files: [], heldBackIds: [] });
      await bed.must({ type: 'lesson.settle', ...use, verdict: 'helped', why: 'every gate passed at once' });
    }
    return lesson(1);
  };

  test('needs production, and the file must not say it already', async () => {
    await open([USELESS], { enabled: false });
    await expect(promoteLesson(await sources(), await lesson(1), 'AGENTS.md', [], by)).rejects.toThrow(
      /only a lesson in production/,
    );
    await bed.close();
    await open([GOOD]);
    const promoted = promoteLesson(
      await sources(),
      await confirmed(),
      'AGENTS.md',
      [`# Rules\n- ${GOOD.toUpperCase()}\n`],
      by,
    );
    await expect(promoted).rejects.toThrow(/already say/);
    expect((await lesson(1)).promoted).toBeNull();
  });

  test('is asked about once when it has paid, and a yes makes the task', async () => {
    await open([GOOD]);
    await confirmed();
    await bed.pass(MINUTE);
    const asked = async () =>
      (await bed.store.records({ noun: 'question', parent: bed.projectId })).filter(({ sourceId }) =>
        sourceId.startsWith('claude_md_promotion/'),
      );
    const [question, ...others] = await asked();
    expect(others).toEqual([]);
    expect(question).toMatchObject({ type: 'blocking', text: expect.stringContaining(GOOD) });
    expect(question!.text).toContain('CLAUDE.md');
    expect((await lesson(1)).promoted).toBeNull();
    await bed.must({
      type: 'question.answer',
      projectId: bed.projectId,
      questionId: question!.id,
      taskId: null,
      text: 'Yes',
      by,
      source: 'user',
    });
    await bed.pass(10 * MINUTE);
    expect((await lesson(1)).promoted).toMatchObject({ file: 'CLAUDE.md' });
    const titles = (await bed.store.tasks({ projectId: bed.projectId })).map(({ title }) => title);
    expect(titles).toContain('Add L2 to CLAUDE.md');
    await bed.pass(120 * MINUTE);
    expect(await asked()).toHaveLength(1);
  });

  test('is a task with its criteria, and is taken back when the lesson is retired', async () => {
    await open([GOOD]);
    const ready = await confirmed();
    expect(ready.confidence).toBeGreaterThanOrEqual(0.9);
    const task = await promoteLesson(await sources(), ready, 'AGENTS.md', [], by);
    expect(task).toMatchObject({ title: 'Add L2 to AGENTS.md', files: ['AGENTS.md'] });
    expect((await lesson(1)).promoted).toEqual({ file: 'AGENTS.md', taskId: task.id });
    await bed.pass(10 * MINUTE);
    expect((await bed.store.task(task.id))?.stage).toBe('done');
    await bed.must({
      type: 'lesson.retire',
      projectId: bed.projectId,
      lessonId: 'lesson_1',
      why: 'it stopped paying',
      by,
    });
    await bed.pass(MINUTE);
    expect((await lesson(1)).promoted).toBeNull();
    // It had landed, so another task takes the line out.
    const titles = (await bed.store.tasks({ projectId: bed.projectId })).map(({ title }) => title);
    expect(titles).toContain('Remove L2 from AGENTS.md');
  });
});
