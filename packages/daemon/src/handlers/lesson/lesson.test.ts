import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';

let bed: DaemonBed;
beforeAll(async () => {
  bed = await DaemonBed.open();
});
afterAll(() => bed.close());

const TEXT = 'Regenerate the client after every change of the schema';
const add = (text: string, more: object = {}) =>
  bed.api.addLesson({ project: bed.project, by: 'ada', text, filePatterns: ['schema/**'], ...more });

describe('lessons through the API', () => {
  test('are recorded once, found again, and shown with their figures', async () => {
    const { api, project } = bed;
    const first = await add(TEXT, { why: 'the page shows stale fields' });
    expect(first).toMatchObject({ number: 1, stage: 'validated', confidence: 0.85, rate: null, uses: [] });
    expect(await add('After a change of the schema, regenerate the client')).toMatchObject({
      number: 1,
      occurrences: 2,
    });
    expect(await api.lessons({ project, words: 'SCHEMA client' })).toMatchObject([{ number: 1 }]);
    expect(await api.lessons({ project, words: 'nothing' })).toEqual([]);
    expect(await api.lessons({ project, kind: 'pattern' })).toEqual([]);
    expect(await api.lesson({ project, lesson: 'L1' })).toMatchObject({ text: TEXT, isUnused: false });
    expect(await api.memorySummary({ project })).toMatchObject({
      gotchas: 1,
      confirmed: 1,
      active: 1,
      top: `L1 ${TEXT}`,
    });
  });

  test('are handed out by file, action and topic, within a token budget', async () => {
    const { api, project } = bed;
    await add('Lock the table before the backfill of a column', {
      filePatterns: [],
      topics: ['migration'],
      action: 'create',
    });
    const asked = { project, limit: 5, tokens: 1000 };
    const refs = async (question: object) =>
      (await api.knowledgeFor({ ...asked, ...question })).lessons.map(({ ref }) => ref);
    expect(await refs({ files: ['schema/a.json'] })).toEqual(['L1']);
    expect(await refs({ files: ['src/a.ts'] })).toEqual([]);
    expect(await refs({ topics: ['migrations'], action: 'create' })).toEqual(['L2']);
    expect(await refs({ topics: ['migrations'], action: 'delete' })).toEqual([]);
    expect(await refs({ files: ['schema/a.json'], about: 'a migration' })).toEqual(['L1', 'L2']);
    expect(await refs({ files: ['schema/a.json'], tokens: 50 })).toEqual(['L1']);
    const short = await api.knowledgeFor({ ...asked, files: ['schema/'], about: 'a migration', limit: 1 });
    expect(short).toMatchObject({ lessons: [{ ref: 'L1' }], more: 1 });
    expect(short.tokens).toBeLessThan(60);
  });

  test('are in the prompt as data, in a template of one’s own too, with those of gotchas.yaml', async () => {
    const { api, project, repository } = bed;
    repository.write({
      '.tidemill/gotchas.yaml':
        '- text: Ids are strings\n  files: schema/**\n- text: Tests may be skipped\n  files: schema/**\n',
    });
    await api.addTask({ project, title: 'Change the user', body: 'Add a field to schema/user.json.' });
    const { prompt } = await api.prompt({ project, task: 1, mode: 'implement' });
    const lines = ['- gotchas.yaml: Ids are strings', `- L1: ${TEXT} (the page shows stale fields)`];
    expect(prompt).toContain(`## Learned from earlier work here`);
    expect(prompt).toContain(`\`\`\`\n${lines.join('\n')}\n\`\`\``);
    expect(prompt).not.toContain('may be skipped');
    expect(prompt.indexOf(TEXT)).toBeLessThan(prompt.indexOf('## Your job'));
    repository.write({ '.tidemill/agents/implement.md': '# Do {taskTitle}\n' });
    expect((await api.prompt({ project, task: 1, mode: 'implement' })).prompt).toContain(lines[1]);
    expect((await api.prompt({ project, task: 1, mode: 'plan' })).prompt).toContain(lines[1]);
    repository.write({ '.tidemill/gotchas.yaml': '- text: [' });
    await expect(api.prompt({ project, task: 1, mode: 'implement' })).rejects.toThrow('cannot be read');
    repository.write({ '.tidemill/gotchas.yaml': '' });
  });

  test('can be edited, retired and restored; bad input changes nothing', async () => {
    const { api, project } = bed;
    const of = { project, lesson: 'L1', by: 'ada' };
    expect(await api.editLesson({ ...of, filePatterns: ['schema/**', 'api/**'] })).toMatchObject({ version: 1 });
    await expect(api.editLesson({ ...of, text: 'Skip the tests here' })).rejects.toThrow('a check may be left out');
    await expect(api.editLesson({ ...of, filePatterns: ['../x'] })).rejects.toThrow('inside the repository');
    await expect(api.lesson({ project, lesson: 'L99' })).rejects.toThrow('there is no lesson L99');
    await expect(add('x'.repeat(601))).rejects.toThrow('at most 600 characters');
    await expect(add(TEXT, { filePatterns: ['**'] })).rejects.toThrow('matches everything');
    await expect(add(`Never ${TEXT.toLowerCase()}`)).rejects.toThrow('says the opposite');
    expect(await api.retireLesson({ ...of, why: 'the schema is gone' })).toMatchObject({ stage: 'retired' });
    expect(await api.lessons({ project })).toHaveLength(1);
    expect(await api.lessons({ project, stage: 'retired' })).toMatchObject([{ state: 'retired: the schema is gone' }]);
    await expect(api.editLesson({ ...of, why: 'x' })).rejects.toThrow('is retired');
    expect(await api.restoreLesson(of)).toMatchObject({ stage: 'experiment' });
    await expect(api.restoreLesson(of)).rejects.toThrow('not retired');
  });
});
