import { type Actor, type Lesson, LessonDraft, lessonUseId, personActor, type Question } from '@tidemill/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import { assetDir } from '../../assets.ts';
import { createIds } from '../../clock.ts';
import type { Agent } from '../../ports.ts';
import { loadCatalogue } from '../../questions/catalogue.ts';
import { type RecordedLesson, recordLesson } from '../learning/record-lesson.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ada = personActor('ada');
const agent: Actor = { kind: 'agent', id: 'a', name: 'agent-1' };
const SCHEMA = 'Regenerate the client after every change of the schema file';
const catalogue = loadCatalogue({ root: '/nowhere', builtinDir: assetDir('prompts/questions') });

let bed: EngineBed;
afterEach(() => bed.close());

async function open(builder?: () => Agent): Promise<void> {
  bed = await EngineBed.open({}, (made) => {
    const quick = builder?.() ?? quickAgent(() => made.repository);
    return { agentFor: () => quick, catalogue };
  });
  await bed.start();
}
const projectId = 'project_1';
/** The time passes while no daemon runs, which is quick. */
async function sleep(ms: number): Promise<void> {
  await bed.stop();
  await bed.pass(ms);
  await bed.start();
  await bed.pass(MINUTE);
}
const record = (
  text: string,
  taskId = 'task_9',
  by = agent,
  more: Partial<LessonDraft> = {},
): Promise<RecordedLesson> => {
  const deps = { store: bed.store, ids: createIds(bed.clock), project: { id: projectId } };
  const draft = LessonDraft.parse({ text, filePatterns: ['schema/**'], ...more });
  return recordLesson(deps, draft, { traceIds: [], taskIds: [taskId], runId: null, by });
};
const recorded = async (...args: Parameters<typeof record>): Promise<Lesson> => {
  const result = await record(...args);
  if (result.kind === 'refused') throw new Error(result.refusal.message);
  return result.lesson;
};
const lesson = async (id: string) => (await bed.store.record('lesson', id))!;
const questions = async (trigger: string): Promise<Question[]> =>
  (await bed.store.records({ noun: 'question', projectId })).filter(({ sourceId }) => sourceId.startsWith(trigger));
const answer = ({ id: questionId }: Question, text: string) =>
  bed.must({ type: 'question.answer', projectId, taskId: null, questionId, text, by: ada, source: 'user' });

describe('the lessons of a run', () => {
  test('are in its record, and counted as helpful when every gate passes at once and it lands', async () => {
    await open();
    const { id } = await recorded(SCHEMA, 'task_9', ada);
    await recorded('Lock the table before a column is filled', 'task_9', ada, { filePatterns: ['migrations/**'] });
    await bed.add(1, { files: ['schema/a.json'] });
    await bed.pass(30 * MINUTE);
    const [run] = await bed.store.runs('task_1');
    expect(run?.briefing?.lessons).toEqual(['L1']);
    expect(await bed.store.record('lesson_use', lessonUseId(run!.id))).toMatchObject({
      verdict: 'helped',
      lessonIds: [id],
    });
    expect(await lesson(id)).toMatchObject({ injected: 1, helped: 1, hurt: 0, lastUsedAt: expect.any(Number) });
  });

  test('count as not helpful when a gate sends the agent back, whatever the agent says', async () => {
    let tries = 0;
    await open(() => ({
      label: 'boaster',
      start({ cwd }) {
        tries += 1;
        bed.repository.work(cwd)?.set('file', tries === 1 ? 'bug' : 'fine');
        const envelope = { outcome: 'pr_ready' as const, summary: 'All lessons helped. Confidence: 1.0' };
        return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
      },
    }));
    const { id } = await recorded(SCHEMA, 'task_9', ada);
    await bed.add(1, { title: 'Change schema/a.json' });
    await bed.pass(30 * MINUTE);
    expect(await lesson(id)).toMatchObject({ injected: 1, helped: 0, hurt: 1 });
  });

  test('are not counted when the machine is the cause, and are settled by the next daemon', async () => {
    await open(() => ({
      label: 'unlucky',
      start: () => ({
        end: Promise.resolve({ kind: 'failed', failure: 'network', message: 'no network', exitCode: 1 }),
        stop: async () => undefined,
      }),
    }));
    const { id } = await recorded(SCHEMA, 'task_9', ada);
    await bed.add(1, { files: ['schema/a.json'] });
    await bed.pass(5 * MINUTE);
    await bed.stop();
    await bed.start();
    await bed.pass(MINUTE);
    const { injected, helped, hurt } = await lesson(id);
    expect(injected).toBeGreaterThan(0);
    expect([helped, hurt]).toEqual([0, 0]);
  });
});

describe('questions about lessons', () => {
  test('a lesson of an agent is asked about; no retires it, other words replace it, yes validates it', async () => {
    await open();
    const first = await recorded(SCHEMA);
    const second = await recorded('Close the handle of the registry in a finally block');
    const third = await recorded('Give every new column of the ledger a default');
    await recorded('Sort the entries of the changelog by their date');
    await bed.pass(MINUTE);
    const asked = await questions('gotcha_candidate');
    expect(asked.map(({ type }) => type)).toEqual(['confirming', 'confirming', 'confirming']);
    expect(asked[0]!.text).toContain(SCHEMA);
    await answer(asked[0]!, 'No');
    await answer(asked[1]!, 'Close the handle of the registry, even after an error');
    await answer(asked[2]!, 'Yes');
    await bed.pass(MINUTE);
    expect(await lesson(first.id)).toMatchObject({ stage: 'retired', retiredWhy: 'ada said: No' });
    expect(await lesson(second.id)).toMatchObject({ text: 'Close the handle of the registry, even after an error' });
    expect(await lesson(third.id)).toMatchObject({ stage: 'validated', confidence: 0.85 });
    expect(await record(SCHEMA, 'task_10')).toMatchObject({ kind: 'refused' });
  });

  test('a lesson that was recorded just before a stop is asked about after the restart, once', async () => {
    await open();
    await bed.stop();
    await recorded(SCHEMA);
    await bed.start();
    await bed.pass(MINUTE);
    expect(await questions('gotcha_candidate')).toHaveLength(1);
    await sleep(MINUTE);
    expect(await questions('gotcha_candidate')).toHaveLength(1);
  });

  test('a lesson that is seen again is asked about as a pattern; silence changes nothing', async () => {
    await open();
    await bed.add(1);
    const { id } = await recorded(SCHEMA);
    await recorded('After every change of the schema file, regenerate the client', 'task_1');
    await bed.pass(MINUTE);
    const [asked] = await questions('pattern_detected');
    expect(asked).toMatchObject({ type: 'confirming', text: expect.stringContaining('Seen 2 times recently') });
    await sleep(2 * DAY);
    expect(await lesson(id)).toMatchObject({ stage: 'validated', occurrences: 2 });
  });

  test('each week is summed up once, if something was learned', async () => {
    await open();
    await sleep(8 * DAY);
    expect(await questions('weekly_summary')).toEqual([]);
    await recorded(SCHEMA);
    await sleep(7 * DAY);
    const summed = await questions('weekly_summary');
    expect(summed).toMatchObject([{ type: 'celebratory', text: expect.stringContaining('1 gotchas') }]);
    await sleep(HOUR);
    expect(await questions('weekly_summary')).toHaveLength(1);
  });
});

describe('the watch over learning', () => {
  test('tells that a lesson is disputed', async () => {
    await open();
    await recorded(SCHEMA, 'task_9', ada);
    for (let n = 0; n < 3; n += 1) await record(`Never ${SCHEMA.toLowerCase()}`, `task_${n}`);
    await bed.pass(MINUTE);
    expect(await bed.alerts()).toContain('warning memory_oscillates L1');
  });

  test('tells that agents record what is too general, or grade themselves', async () => {
    await open();
    for (let n = 0; n < 5; n += 1) await record('Be more careful next time');
    for (let n = 0; n < 3; n += 1) await record('Regenerating the client went well, confidence: 0.99');
    await bed.pass(MINUTE);
    expect(await bed.alerts()).toEqual(['warning memory_generic', 'warning memory_graded']);
    // What was refused is not in the log: it may be harmful.
    expect(JSON.stringify(await bed.log('lesson.refused'))).not.toContain('careful');
    await sleep(8 * DAY);
    expect(await bed.alerts()).toEqual([]);
  });

  test('tells that lessons are stored and not used', async () => {
    await open();
    for (const word of WORDS) await recorded(`The ${word} of ${word} needs ${word}able ${word}s`, 'task_9', ada);
    await sleep(91 * DAY);
    expect(await bed.alerts()).toContain('info memory_unused');
  });

  test('lets an agent that stores thousands of lessons get no further than a few', async () => {
    await open();
    const flood = Array.from(
      { length: 1000 },
      (_, n) => `${named(n)} ${named(n + 7)} ${named(n * 3)} breaks ${named(n + 900)}`,
    );
    const results = await Promise.all(flood.map((text, n) => record(text, `task_${n}`)));
    expect(results.filter(({ kind }) => kind === 'recorded').length).toBeLessThanOrEqual(50);
    expect(results.filter(({ kind }) => kind === 'refused').length).toBeGreaterThan(800);
    await bed.add(1, { files: ['schema/a.json'] });
    await bed.pass(30 * MINUTE);
    const [run] = await bed.store.runs('task_1');
    expect(run!.briefing!.lessons.length).toBeLessThanOrEqual(5);
  });
});

const WORDS = 'anchor bramble copper dahlia ember falcon garnet hazel indigo jasper kelp linden'.split(' ');
const named = (n: number) =>
  [...String(n).padStart(4, '0')]
    .map((d) => `${'bcdfghjklm'.charAt(Number(d))}${'aeiou'.charAt(Number(d) % 5)}`)
    .join('');
