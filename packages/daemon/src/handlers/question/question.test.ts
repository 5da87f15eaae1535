import { type Api, AskedQuestion, type QuestionView } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../../test/e2e/cli-repository.ts';
import { OfflineBed } from '../../../../../test/support/offline-bed.ts';
import { openFolderStore } from '../../assembly/store-address.ts';
import { openDataFolder } from '../../config/data-folder.ts';

let bed: OfflineBed;
let api: Api;
let project: string;

beforeEach(async () => {
  bed = await OfflineBed.open();
  ({ api, project } = bed);
});
afterEach(() => bed.close());

type Asking = Parameters<typeof AskedQuestion.parse>[0];

/** Acts like the engine of a daemon that has the store open at the same time. */
async function ask(taskId: string | null, ...questions: Asking[]): Promise<void> {
  const { store } = await openFolderStore(openDataFolder(bed.env), bed.env);
  const reply = await store.execute({
    type: 'question.ask',
    projectId: project,
    taskId,
    stage: 'open',
    agent: 'a',
    source: 'engine',
    sourceId: 'x',
    questions: questions.map((each) => AskedQuestion.parse(each)),
  });
  await store.close();
  if (!reply.ok) throw new Error(reply.refusal.message);
}
const open = () => api.questions({ project });
const refs = (questions: QuestionView[]) => questions.map(({ ref }) => ref);
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

describe('questions', () => {
  test('are ranked: those that block work, then by type, the task’s priority, and age', async () => {
    const late = await api.addTask({ project, title: 'Later', priority: 4 });
    const soon = await api.addTask({ project, title: 'Soon', priority: 0 });
    await ask(null, { text: 'Good news', type: 'celebratory' }, { text: 'Taste?', type: 'preference' });
    await ask(late.id, 'Which port?');
    await ask(soon.id, { text: 'Tabs?', type: 'clarifying', default: 'No' }, 'Which host?');
    expect(refs(await open())).toEqual(['Q2.2', 'Q1.1', 'Q2.1', 'Q2', 'Q1']);
    expect(refs(await api.questions({ project, task: '#2' }))).toEqual(['Q2.2', 'Q2.1']);
    expect(await api.status({ project })).toMatchObject({
      questions: [{ ref: 'Q2.2' }, {}, {}, {}, {}],
      needsYou: [
        { number: 1, command: 'tidemill answer Q1.1 "…"' },
        { number: 2, command: 'tidemill answer Q2.2 "…"' },
      ],
    });
  });

  test('are found by every form of their name', async () => {
    const { id } = await api.addTask({ project, title: 'One' });
    await ask(id, 'Which port?');
    await ask(null, 'Which licence?');
    const [first] = await open();
    const found = async (question: string) => (await api.question({ project, question })).question.text;
    for (const name of ['Q1.1', 'q1.1', '1.1', '#1', '1', first!.id, first!.id.slice(-8)])
      expect(await found(name), name).toBe('Which port?');
    expect(await found('Q1')).toBe('Which licence?');
    for (const name of ['Q1.2', 'Q7.1', '#9', 'Q5', 'abc', 'question_0'])
      expect(await code(api.question({ project, question: name })), name).toBe('not_found');
    await ask(id, 'Which host?');
    await expect(api.question({ project, question: '#1' })).rejects.toMatchObject({ hint: 'Name one of Q1.1, Q1.2.' });
  });

  test('are found by the id that their agent gave them, while only one open question has it', async () => {
    const first = await api.addTask({ project, title: 'One' });
    const second = await api.addTask({ project, title: 'Two' });
    await ask(first.id, { id: 'port', text: 'Which port?' }, { id: 'Q2.1', text: 'Which host?' });
    const found = async (question: string) => (await api.question({ project, question })).question.ref;
    expect(await found('port')).toBe('Q1.1');
    await ask(second.id, { id: 'port', text: 'Which port now?' });
    const ambiguous = api.question({ project, question: 'port' });
    await expect(ambiguous).rejects.toMatchObject({ code: 'bad_input', hint: 'Name one of Q1.1, Q2.1.' });
    // An agent's id never takes the place of a name.
    expect(await found('Q2.1')).toBe('Q2.1');
    await api.answerQuestion({ project, question: 'Q1.1', text: '80' });
    expect(await found('port')).toBe('Q2.1');
  });

  test('of another project are not found', async () => {
    const other = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
    try {
      const { id } = await api.registerProject({ root: other.root });
      await ask(null, 'Which licence?');
      const [question] = await open();
      expect(await code(api.answerQuestion({ project: id, question: question!.id, text: 'MIT' }))).toBe('not_found');
      expect(await code(api.answerQuestion({ project: id, question: 'Q1', text: 'MIT' }))).toBe('not_found');
      expect(await open()).toHaveLength(1);
    } finally {
      other.remove();
    }
  });

  test('are answered once, even by two people at the same time', async () => {
    await ask(null, 'Which licence?');
    const answers = ['ada', 'bob'].map((by) => code(api.answerQuestion({ project, question: 'Q1', text: by, by })));
    expect((await Promise.all(answers)).sort()).toEqual(['already_answered', 'ok']);
  });

  test('must be answered in exactly one way', async () => {
    await ask(null, { text: 'Which licence?', options: ['MIT', 'Apache-2.0'], allowFreeText: false });
    const answer = (how: object) => code(api.answerQuestion({ project, question: 'Q1', ...how }));
    for (const how of [
      {},
      { text: 'MIT', option: 1 },
      { option: 3 },
      { useDefault: true },
      { text: 'BSD' },
      { text: '' },
    ])
      expect(await answer(how), JSON.stringify(how)).toBe('bad_input');
    expect(await answer({ text: 'x'.repeat(1024 * 1024) })).toBe('bad_input');
    expect(await answer({ option: 2 })).toBe('ok');
    expect((await api.questions({ project, all: true }))[0]?.answer?.text).toBe('Apache-2.0');
  });

  test('get their defaults all at once, except those without one', async () => {
    await ask(
      null,
      { text: 'Tabs?', type: 'clarifying', default: 'No' },
      { text: 'Go on?', type: 'confirming' },
      'Which?',
    );
    const { answered, left } = await api.answerDefaults({ project });
    expect(answered.map(({ answer }) => [answer?.text, answer?.source])).toEqual([
      ['No', 'default'],
      ['yes', 'default'],
    ]);
    expect(refs(left)).toEqual(['Q3']);
  });
});

describe('learned defaults', () => {
  test('are shown, used, and revoked by the end of their id', async () => {
    const taste = { text: 'Short commits?', type: 'preference' };
    await ask(null, taste);
    await api.answerQuestion({ project, question: 'Q1', text: 'Yes' });
    const { id } = await api.addTask({ project, title: 'One' });
    await ask(id, taste);
    expect((await api.questions({ project, all: true, task: '1' }))[0]).toMatchObject({
      isDefaultLearned: true,
      answer: { text: 'Yes', source: 'learned' },
    });
    const [learned] = await api.preferences({ project });
    expect(learned).toMatchObject({ text: 'Short commits?', answer: 'Yes', isActive: true });
    expect(await api.revokePreference({ project, preference: learned!.id.slice(-8) })).toMatchObject({
      isActive: false,
    });
    expect(await api.preferences({ project })).toEqual([]);
    expect(await api.preferences({ project, all: true })).toMatchObject([
      { revokedBy: { kind: 'person', name: 'person' } },
    ]);
    expect(await code(api.revokePreference({ project, preference: 'nothing' }))).toBe('not_found');
  });
});
