import { AskedQuestion, AUTONOMY_PRESETS, personActor, type Question } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { replay, rowsOf } from '../../../../test/support/command-world.ts';
import { defaultRules, Mill } from '../../../../test/support/mill.ts';
import { commandOf, type Dice, dice } from '../../../../test/support/wild-command.ts';
import type { Command } from '../command.ts';
import { decide } from '../decide.ts';
import { touchesOf } from './touches.ts';

const projectId = 'project_1';
const TEXTS = ['Which port?', 'Which host?', 'Tabs?', 'Go on?', 'Short commits?'];
const at = <T>(items: readonly T[], index: number): T => items[index % items.length]!;
const questionsIn = (mill: Mill) =>
  [...mill.records.values()].filter((each): each is Question => each.noun === 'question');

/** What a command about it says. */
const naming = ({ id, taskId, subjectId }: Question) => ({ projectId, taskId, subjectId, questionId: id });

function asked({ a, b }: Dice): AskedQuestion {
  const type = at(['blocking', 'blocking', 'clarifying', 'confirming', 'educational', 'celebratory', 'preference'], b);
  return AskedQuestion.parse({ text: at(TEXTS, a), type, ...(b % 2 ? { default: 'No' } : {}) });
}

/** Every second command is about a question, the others are random. */
function anyCommand(mill: Mill, thrown: Dice): Command | null {
  const { kind, task, a, b } = thrown;
  const tasks = [...mill.tasks.values()];
  if (kind % 2 || tasks.length < 2) return commandOf(mill, thrown);
  const about = at(tasks, task);
  const known = questionsIn(mill);
  const question = known.length > 0 ? at(known, a + b) : null;
  const of = question && naming(question);
  const leased = tasks.find(({ lease }) => lease !== null);
  if (kind < 20) {
    const effect = at([{ kind: 'none' }, { kind: 'stuck' }, { kind: 'unblock', leaves: ['No'] }] as const, kind);
    return {
      type: 'question.ask',
      projectId,
      taskId: a % 5 ? about.id : null,
      stage: about.stage,
      questions: [asked(thrown)],
      ...{ agent: 'engine', source: at(['engine', 'catalogue'] as const, b), sourceId: 'x', effect: { ...effect } },
    } as Command;
  }
  if (kind < 40 && leased?.lastRunId)
    return {
      type: 'run.ask',
      projectId,
      subjectId: leased.id,
      token: leased.fence,
      runId: leased.lastRunId,
      questions: [asked(thrown), asked({ ...thrown, a: a + 1 })],
    };
  if (!of) return null;
  if (kind < 75)
    return {
      type: 'question.answer',
      ...of,
      by: personActor(at(['ada', 'bob'], b)),
      source: 'user',
      text: at(['Yes', 'No', 'Approve', 'Retry'], a),
    };
  if (kind < 85) return { type: 'question.remind', ...of };
  return { type: 'question.expire', ...of };
}

function expectSound(mill: Mill): void {
  const known = new Map(questionsIn(mill).map((question) => [question.id, question]));
  for (const task of mill.tasks.values()) {
    // No task is stuck in needs_info: there is always an answer that lets it continue.
    if (task.stage === 'needs_info') {
      expect(task.openQuestions).not.toEqual([]);
      expect(task).toMatchObject({ lease: null, role: null, resumeStage: expect.any(String) });
    }
    for (const { id } of task.openQuestions)
      expect(known.get(id)).toMatchObject({ status: 'open', holds: true, taskId: task.id });
    if (task.stage === 'cancelled') expect(task.openQuestions).toEqual([]);
  }
  const holding = [...mill.tasks.values()].flatMap(({ openQuestions }) => openQuestions.map(({ id }) => id));
  for (const question of known.values()) {
    if (question.status === 'open' && question.holds) {
      if (question.taskId !== null) expect(holding).toContain(question.id);
      else expect(mill.records.get(question.subjectId ?? '')).toMatchObject({ noun: 'delivery', status: 'waiting' });
    }
    expect(question.answer !== null).toBe(question.status === 'answered');
  }
  expect(new Set([...known.values()].map(({ ref }) => ref)).size).toBe(known.size);
}

describe('any sequence of questions and answers among other commands', () => {
  const story = fc.array(dice, { minLength: 20, maxLength: 150, size: 'max' });

  test('loses no task, answers nothing twice, and follows from the scope alone', () => {
    fc.assert(
      fc.property(story, fc.boolean(), (throws, isCareful) => {
        const mill = new Mill({ hilConfig: isCareful ? AUTONOMY_PRESETS.confirm_all : AUTONOMY_PRESETS.full });
        for (const each of throws) {
          const command = anyCommand(mill, each);
          mill.now += command ? 10 : each.a * 600_000;
          if (!command) continue;
          const before = command.type === 'question.answer' ? mill.records.get(command.questionId) : undefined;
          const expected = decide(mill.loadAll(), command, mill.env());
          const decision = mill.execute(command);
          expect(decision).toEqual(expected);
          if (before?.noun === 'question' && before.status !== 'open') {
            expect(decision.ok).toBe(false);
            // A wrong task is refused before the question is looked at.
            if (command.type === 'question.answer' && before.taskId === command.taskId)
              expect(decision).toMatchObject({ refusal: { code: 'already_answered' } });
          }
          expectSound(mill);
        }
        const again = replay(mill.log);
        for (const [noun, rows] of Object.entries(rowsOf(mill))) expect(new Set(again[noun])).toEqual(new Set(rows));
      }),
      { numRuns: 60 },
    );
  });

  test('restarts every parked task once all open questions are answered', () => {
    fc.assert(
      fc.property(story, (throws) => {
        const mill = new Mill();
        for (const each of throws) {
          const command = anyCommand(mill, each);
          mill.now += 10;
          if (command) mill.execute(command);
        }
        for (const question of questionsIn(mill))
          if (question.status === 'open')
            mill.must({
              type: 'question.answer',
              ...naming(question),
              by: personActor('ada'),
              source: 'user',
              text: 'Go on',
            });
        expect([...mill.tasks.values()].filter(({ stage }) => stage === 'needs_info')).toEqual([]);
        expect([...mill.tasks.values()].flatMap(({ openQuestions }) => openQuestions)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('the matters that a change touches', () => {
  const rules = { ...defaultRules, critical: ['migrations/', 'src/core/**'] };
  const task = { pipeline: 'quick', hilConfig: null };
  test.each([
    [['src/a.ts'], [], []],
    [['packages/web/package.json'], [], ['dependencyModifications']],
    [['Cargo.lock'], [], ['dependencyModifications']],
    [['requirements-dev.txt', 'src/Mill.csproj'], [], ['dependencyModifications']],
    [['docs/package.json.md', 'src/requirements.ts'], [], []],
    [['migrations/001.sql'], [], ['architectureDecisions']],
    [['src/a.ts'], ['src/**'], []],
    [['src/a.ts', 'docs/b.md'], ['src/'], ['scopeChanges']],
    [['docs/*.md'], ['docs/one.md'], ['scopeChanges']],
    [['src/core/x.ts', 'go.mod'], ['web/'], ['scopeChanges', 'architectureDecisions', 'dependencyModifications']],
  ])('are found for the files %j within the scope %j', (files, scope, matters) => {
    expect(touchesOf(files, { ...task, files: scope }, rules).map(([matter]) => matter)).toEqual(matters);
  });
});
