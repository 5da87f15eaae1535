import { AskedQuestion, engineActor, personActor, type Question, type QuestionType } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const projectId = 'project_1';

type Asking = Parameters<typeof AskedQuestion.parse>[0];

function ask(mill: Mill, taskId: string | null, ...questions: Asking[]): Question[] {
  const events = mill.must({
    type: 'question.ask',
    projectId,
    taskId,
    stage: 'open',
    agent: 'engine',
    source: 'engine',
    sourceId: 'x',
    questions: questions.map((each) => AskedQuestion.parse(each)),
  });
  return events.flatMap((event) => (event.type === 'question.asked' ? [event.question] : []));
}
const now = (mill: Mill, { id }: Question) => mill.records.get(id) as Question;
const expire = (mill: Mill, { id: questionId, taskId }: Question) =>
  mill.execute({ type: 'question.expire', projectId, taskId, questionId });
const remind = (mill: Mill, { id: questionId, taskId }: Question) =>
  mill.must({ type: 'question.remind', projectId, taskId, questionId });
const answer = (mill: Mill, { id: questionId, taskId }: Question, text: string, name = 'ada') =>
  mill.execute({ type: 'question.answer', projectId, taskId, questionId, by: personActor(name), source: 'user', text });

/** What happens to a question without an answer, and when. */
const LIVES: { type: QuestionType; overAfter: number | null; reminders: number; ends: Partial<Question> }[] = [
  { type: 'blocking', overAfter: null, reminders: 12 * 24 * 8, ends: { status: 'open', answer: null } },
  { type: 'clarifying', overAfter: 4 * HOUR, reminders: 1, ends: { status: 'answered' } },
  { type: 'confirming', overAfter: DAY, reminders: 0, ends: { status: 'answered' } },
  { type: 'educational', overAfter: 7 * DAY, reminders: 0, ends: { status: 'dismissed', answer: null } },
  { type: 'celebratory', overAfter: DAY, reminders: 0, ends: { status: 'dismissed', answer: null } },
  { type: 'preference', overAfter: DAY, reminders: 0, ends: { status: 'answered' } },
];

describe('a question that nobody answers', () => {
  test.each(LIVES)('has the reminders and the end of its type: $type', ({ type, overAfter, reminders, ends }) => {
    const mill = new Mill();
    const [question] = ask(mill, mill.add(), {
      text: 'Tabs?',
      type,
      ...(type === 'confirming' ? {} : { default: 'No' }),
    });
    const begun = mill.now;
    let reminded = 0;
    for (let minute = 0; minute < 8 * 24 * 60 && now(mill, question!).status === 'open'; minute += 1) {
      mill.now += MINUTE;
      const { remindAt, expiresAt } = now(mill, question!);
      if (expiresAt !== null && expiresAt <= mill.now) expect(expire(mill, question!).ok).toBe(true);
      else if (remindAt !== null && remindAt <= mill.now) reminded += remind(mill, question!).length;
    }
    expect(now(mill, question!)).toMatchObject(ends);
    expect(reminded).toBe(reminders);
    expect(now(mill, question!).reminders).toBe(reminders);
    if (overAfter !== null) expect(mill.now - begun).toBe(overAfter);
  });

  test('takes its default if it is clarifying, yes if it is confirming, and says how it was answered', () => {
    const mill = new Mill();
    const [clarifying, confirming] = ask(
      mill,
      mill.add(),
      { text: 'Tabs?', type: 'clarifying', options: ['Tabs', { label: 'Spaces', recommended: true }] },
      { text: 'Go on?', type: 'confirming' },
    );
    mill.now += DAY;
    for (const each of [clarifying!, confirming!]) expire(mill, each);
    expect(now(mill, clarifying!).answer).toMatchObject({ text: 'Spaces', option: 'Spaces', source: 'default' });
    expect(now(mill, confirming!).answer).toMatchObject({ text: 'yes', source: 'timeout', by: engineActor('time') });
    expect(mill.task('task_1').context.map(({ summary }) => summary)).toEqual([
      'Asked: Tabs?\nAnswer (default): Spaces',
      'Asked: Go on?\nAnswer (timeout): yes',
    ]);
  });

  test('is dismissed if it is clarifying and has no default', () => {
    const mill = new Mill();
    const [question] = ask(mill, mill.add(), { text: 'Tabs?', type: 'clarifying' });
    mill.now += 4 * HOUR;
    expire(mill, question!);
    expect(now(mill, question!)).toMatchObject({ status: 'dismissed', answer: null });
  });

  test('does not expire early', () => {
    const mill = new Mill();
    const [question] = ask(mill, mill.add(), { text: 'Tabs?', type: 'clarifying', default: 'No' });
    mill.now += 4 * HOUR - 1;
    expect(expire(mill, question!)).toMatchObject({ ok: false, refusal: { code: 'conflict' } });
    expect(remind(mill, question!)).toHaveLength(1);
    expect(remind(mill, question!)).toEqual([]);
  });

  test('expires when its asker says, unless it is blocking', () => {
    const mill = new Mill();
    const [quick, blocking] = ask(
      mill,
      mill.add(),
      { text: 'Tabs?', type: 'clarifying', default: 'No', expiresAfter: '10m', reminderAfter: '2m' },
      { text: 'Which?', expiresAfter: '10m' },
    );
    expect(quick).toMatchObject({ expiresAt: mill.now + 10 * MINUTE, remindAt: mill.now + 2 * MINUTE });
    expect(blocking).toMatchObject({ type: 'blocking', expiresAt: null, remindAt: mill.now + 5 * MINUTE });
  });

  test('a clock that jumped a day makes one reminder, not hundreds', () => {
    const mill = new Mill();
    const [question] = ask(mill, mill.add(), 'Which?');
    mill.now += DAY;
    expect(remind(mill, question!)).toMatchObject([{ remindAt: mill.now + 5 * MINUTE }]);
    expect(remind(mill, question!)).toEqual([]);
    mill.now -= DAY;
    expect(remind(mill, question!)).toEqual([]);
  });
});

describe('an answer', () => {
  test('is given once: of two people at once exactly one wins', () => {
    const mill = new Mill();
    const [question] = ask(mill, mill.add(), 'Which?');
    const { id: questionId, taskId } = question!;
    const answers = ['ada', 'bob'].map((by) => ({
      ...({
        type: 'question.answer',
        projectId,
        taskId,
        questionId,
        by: personActor(by),
        source: 'user',
        text: `as ${by} says`,
      } as const),
    }));
    const [first, second] = mill.executeBatch(answers);
    expect(first).toMatchObject({ ok: true });
    expect(second).toMatchObject({
      ok: false,
      refusal: { code: 'already_answered', message: expect.stringContaining('ada') },
    });
    expect(now(mill, question!).answer).toMatchObject({ by: personActor('ada'), text: 'as ada says' });
  });

  test('is too late after the default, and after the task was cancelled', () => {
    const mill = new Mill();
    const [late] = ask(mill, mill.add(), { text: 'Tabs?', type: 'clarifying', default: 'No' });
    mill.now += 4 * HOUR;
    expire(mill, late!);
    expect(answer(mill, late!, 'Yes')).toMatchObject({ refusal: { code: 'already_answered' } });
    const [gone] = ask(mill, mill.add(), 'Which?');
    mill.must({ type: 'task.cancel', projectId, taskId: 'task_2', by: personActor('ada') });
    expect(now(mill, gone!).status).toBe('withdrawn');
    expect(answer(mill, gone!, 'This')).toMatchObject({ refusal: { code: 'already_answered' } });
    expect(expire(mill, gone!)).toMatchObject({ ok: true, events: [] });
  });

  test.each([
    ['an empty text', '  \n', 'bad_input'],
    ['a megabyte', 'x'.repeat(1024 * 1024), 'bad_input'],
    ['none of the options', 'Emacs', 'bad_input'],
    ['an option in other letters', 'sPACES', null],
  ])('is checked in the case: %s', (_name, text, code) => {
    const mill = new Mill();
    const options = ['Tabs', 'Spaces'];
    const [question] = ask(mill, mill.add(), { text: 'Which?', options, allowFreeText: false });
    const decision = answer(mill, question!, text);
    expect(decision.ok ? null : decision.refusal.code).toBe(code);
    expect(now(mill, question!).answer?.text ?? null).toBe(code === null ? 'Spaces' : null);
  });

  test('with script in it stays the text it is', () => {
    const mill = new Mill();
    const script = '<script>alert(1)</script>{taskTitle}';
    const [question] = ask(mill, mill.add(), `\u001b[2J${script}`);
    answer(mill, question!, script);
    expect(now(mill, question!)).toMatchObject({ text: script, answer: { text: script } });
  });

  test('to a question of another project, or of another task, is refused', () => {
    const mill = new Mill();
    const [question] = ask(mill, mill.add(), 'Which?');
    const { rules } = mill.projects.get(projectId)!;
    mill.must({ type: 'project.register', projectId: 'other', name: 'o', root: '/o', rules });
    const of = { questionId: question!.id, by: personActor('ada'), source: 'user', text: 'this' } as const;
    const { taskId } = question!;
    expect(mill.refusal({ type: 'question.answer', projectId: 'other', taskId, ...of })).toBe('not_found');
    expect(mill.refusal({ type: 'question.answer', projectId, taskId: null, ...of })).toBe('conflict');
    expect(mill.refusal({ type: 'question.answer', projectId, taskId: mill.add(), ...of })).toBe('conflict');
    expect(mill.refusal({ type: 'question.answer', projectId, taskId, ...of, questionId: 'question_0' })).toBe(
      'not_found',
    );
    expect(now(mill, question!).status).toBe('open');
  });

  test('of any length reaches the next run whole', () => {
    const mill = new Mill();
    const [question] = ask(mill, mill.add(), 'Which?');
    answer(mill, question!, `${'x'.repeat(15_000)} end`);
    const { context, feedback } = mill.task('task_1');
    expect(context.at(-1)!.summary.length).toBeLessThanOrEqual(2000);
    expect(feedback).toMatchObject([{ kind: 'person', text: expect.stringMatching(/ end$/) }]);
  });
});

describe('a question', () => {
  test.each([
    ['without a text', ''],
    ['of blanks', ' \n '],
    ['of a megabyte', 'x'.repeat(1024 * 1024)],
  ])('%s is invalid', (_name, text) => {
    expect(AskedQuestion.safeParse({ text }).success).toBe(false);
  });

  test('is not asked again within a day, and then it is; with another number it is another question', () => {
    const mill = new Mill();
    const task = mill.add();
    const [first] = ask(mill, task, { text: 'Is 5 s enough?', type: 'clarifying', default: 'yes' }, 'is  5 s enough?');
    expect(ask(mill, task, 'Is 5 s  enough?')).toEqual([]);
    expect(ask(mill, task, 'Is 500 s enough?')).toHaveLength(1);
    answer(mill, first!, 'yes');
    mill.now += DAY - 1;
    expect(ask(mill, task, 'Is 5 s enough?')).toEqual([]);
    mill.now += 1;
    expect(ask(mill, task, 'Is 5 s enough?')).toHaveLength(1);
  });

  test('keeps the id of its asker, who gets it back with the answer', () => {
    const mill = new Mill();
    const [question] = ask(mill, mill.add(), { id: 'port', text: 'Which port?' });
    expect(question).toMatchObject({ ref: 'Q1.1', ownId: 'port' });
    answer(mill, question!, '8080');
    expect(mill.task('task_1').context.at(-1)?.summary).toBe('Asked (your id: port): Which port?\nAnswer: 8080');
  });

  test('that is still open is never asked a second time', () => {
    const mill = new Mill();
    const task = mill.add();
    ask(mill, task, 'Which?');
    mill.now += 3 * DAY;
    expect(ask(mill, task, 'Which?')).toEqual([]);
    expect(ask(mill, null, 'Which?')).toHaveLength(1);
    expect(ask(mill, null, 'Which?')).toEqual([]);
  });

  test('has a name that no other has', () => {
    const mill = new Mill();
    const [first, second] = [mill.add(), mill.add()];
    const refs = [
      ...ask(mill, first, 'One?', 'Two?'),
      ...ask(mill, second, 'One?'),
      ...ask(mill, first, 'Three?'),
      ...ask(mill, null, 'One?', 'Two?'),
      ...ask(mill, null, 'Three?'),
    ].map(({ ref }) => ref);
    expect(refs).toEqual(['Q1.1', 'Q1.2', 'Q2.1', 'Q1.3', 'Q1', 'Q2', 'Q3']);
  });

  test('of the same asker and stage joins the others of the last five minutes', () => {
    const mill = new Mill();
    const task = mill.add();
    const [a, b] = ask(mill, task, 'One?', 'Two?');
    mill.now += 5 * MINUTE - 1;
    const [c] = ask(mill, task, 'Three?');
    mill.now += 5 * MINUTE;
    const [d] = ask(mill, task, 'Four?');
    expect([b!.batchId, c!.batchId]).toEqual([a!.batchId, a!.batchId]);
    expect(d!.batchId).not.toBe(a!.batchId);
  });

  test('that a catalogue raises about the project comes once a day, whatever it says', () => {
    const mill = new Mill();
    const raise = (text: string, sourceId = 'milestone_reached') =>
      mill.must({
        type: 'question.ask',
        projectId,
        taskId: null,
        stage: '',
        agent: 'tidemill',
        source: 'catalogue',
        sourceId,
        questions: [AskedQuestion.parse({ text, type: 'celebratory' })],
      });
    expect(raise('Half is done')).toHaveLength(1);
    expect(raise('All is done')).toEqual([]);
    expect(raise('It has landed', 'validation_passed')).toHaveLength(1);
    mill.now += DAY;
    expect(raise('All is done')).toHaveLength(1);
  });
});

describe('a learned answer', () => {
  const tabs = { text: 'Tabs?', type: 'clarifying', default: 'No' };
  const told = (mill: Mill) => [...mill.records.values()].filter((each) => each.noun === 'preference');

  test('is an answer given twice: the next time it is used, shown as learned, and noted in the task', () => {
    const mill = new Mill();
    for (const _ of [1, 2]) answer(mill, ask(mill, mill.add(), tabs)[0]!, 'Yes');
    const [third] = ask(mill, mill.add(), tabs);
    expect(third).toMatchObject({ isDefaultLearned: true, defaultAnswer: 'Yes' });
    expect(now(mill, third!)).toMatchObject({ status: 'answered', answer: { text: 'Yes', source: 'learned' } });
    expect(mill.task('task_3').context.at(-1)?.summary).toBe('Asked: Tabs?\nAnswer (learned): Yes');
    const [blocking] = ask(mill, mill.add(), { ...tabs, type: 'blocking' });
    expect(blocking).toMatchObject({ status: 'open', isDefaultLearned: true, holds: true, defaultAnswer: 'Yes' });
  });

  test.each([
    ['another number', { text: 'Allow 500 retries?' }, false],
    ['another amount', { text: 'Allow 5.5 retries?' }, false],
    ['the same', { text: 'allow  5 retries?' }, true],
  ])('is used only for the same question: %s', (_name, question, isUsed) => {
    const mill = new Mill();
    for (const _ of [1, 2])
      answer(mill, ask(mill, mill.add(), { text: 'Allow 5 retries?', type: 'clarifying' })[0]!, 'Yes');
    const [next] = ask(mill, mill.add(), { type: 'clarifying', ...question });
    expect(next).toMatchObject({ isDefaultLearned: isUsed, defaultAnswer: isUsed ? 'Yes' : null });
    expect(now(mill, next!).status).toBe(isUsed ? 'answered' : 'open');
  });

  test.each([
    ['Remove "Orders"?', 'Remove "orders"?', false],
    ['Move it to src/a?', 'Move it to src/b?', false],
    ['Use `rm`?', 'Use `mv`?', false],
    ['Use "A"?', 'use "A"?', true],
  ])('from %s is used for %s: %s', (before, after, isUsed) => {
    const mill = new Mill();
    answer(mill, ask(mill, mill.add(), { text: before, type: 'preference' })[0]!, 'Yes');
    expect(ask(mill, mill.add(), { text: after, type: 'preference' })[0]).toMatchObject({ isDefaultLearned: isUsed });
  });

  test.each([
    ['it is one of the new options', ['A', 'B'], ['B', 'A', 'C'], true],
    ['it is none of the new options', ['A', 'B'], ['B', 'C'], false],
    ['it was free text, and there are options now', [], ['B', 'C'], false],
    ['it was an option, and there are none now', ['A', 'B'], [], false],
    ['it was free text, and still may be', [], [], true],
  ])('is checked in the case: %s', (_name, before, after, isUsed) => {
    const mill = new Mill();
    const which = (options: string[]) => ({ text: 'Which?', type: 'preference', options });
    answer(mill, ask(mill, mill.add(), which(before))[0]!, 'A');
    expect(ask(mill, mill.add(), which(after))[0]).toMatchObject({ isDefaultLearned: isUsed });
  });

  test('by an earlier version is still used for the same question, and is counted further', () => {
    const mill = new Mill();
    const old = { preferenceId: `preference/${projectId}/0123`, fingerprint: '0123', text: 'Allow 5 retries?' };
    mill.records.set(old.preferenceId, {
      ...{ noun: 'preference', id: old.preferenceId, projectId, fingerprint: '0123', text: old.text, answer: 'Yes' },
      ...{ count: 2, learnedAt: 0, isActive: true, hadOptions: null, revokedBy: null },
    });
    const retries = (count: number) => ({ text: `Allow ${count} retries?`, type: 'blocking' });
    expect(ask(mill, mill.add(), retries(500))[0]).toMatchObject({ isDefaultLearned: false });
    const [same] = ask(mill, mill.add(), retries(5));
    expect(same).toMatchObject({ isDefaultLearned: true, defaultAnswer: 'Yes' });
    answer(mill, same!, 'Yes');
    expect(told(mill)).toMatchObject([{ id: old.preferenceId, count: 3, hadOptions: false }]);
  });

  test('is not a single answer, nor two different ones, nor a timeout', () => {
    const mill = new Mill();
    const next = (after: string) => {
      const [question] = ask(mill, mill.add(), tabs);
      expect(question, after).toMatchObject({ isDefaultLearned: false, status: 'open' });
      return question!;
    };
    expect(answer(mill, next('nothing'), 'Yes')).toMatchObject({ ok: true });
    expect(answer(mill, next('a single answer'), 'No')).toMatchObject({ ok: true });
    for (const after of ['two different answers', 'a timeout']) {
      const question = next(after);
      mill.now += 4 * HOUR;
      expect(expire(mill, question)).toMatchObject({ ok: true });
      expect(now(mill, question).answer).toMatchObject({ text: 'No', source: 'default' });
    }
    next('two timeouts');
  });

  test('is a preference after one answer, until it is revoked', () => {
    const mill = new Mill();
    const taste = { text: 'Short commits?', type: 'preference' };
    answer(mill, ask(mill, mill.add(), taste)[0]!, 'Yes');
    expect(ask(mill, mill.add(), taste)[0]).toMatchObject({ isDefaultLearned: true });
    const [preference] = told(mill);
    const revoke = {
      type: 'preference.revoke',
      projectId,
      preferenceId: preference!.id,
      by: personActor('ada'),
    } as const;
    expect(mill.must(revoke)).toHaveLength(1);
    expect(mill.must(revoke)).toEqual([]);
    expect(ask(mill, mill.add(), taste)[0]).toMatchObject({ isDefaultLearned: false });
    expect(mill.refusal({ ...revoke, preferenceId: 'preference/other/x' })).toBe('not_found');
  });
});
