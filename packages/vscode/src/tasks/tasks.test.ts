import { type Project, type TaskDetail, TaskSummary } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { defaultRules } from '../../../../test/support/mill.ts';
import { groupsOf, menuOf, noteOf } from './groups.ts';
import { draftOfSelection, draftOfTodo, todoIn } from './task-start.ts';
import { taskText } from './task-text.ts';

const task = (number: number, stage: string, more: Partial<TaskSummary> = {}): TaskSummary =>
  TaskSummary.parse({
    id: `task_${number}`,
    number,
    title: `Task ${number}`,
    kind: 'feature',
    pipeline: 'feature',
    stage,
    stageSince: number,
    priority: 2,
    unmet: 0,
    files: [],
    branch: '',
    resumeStage: null,
    blocked: null,
    openQuestions: [],
    waiting: null,
    landedCommit: null,
    after: [],
    worker: null,
    ...more,
  });
const project = { rules: defaultRules } as Project;

describe('the tree of tasks', () => {
  test('is by stage in the pipeline’s order, what waits for a person first and finished ones last', () => {
    const stages = [
      'done',
      'merge',
      'implement',
      'blocked',
      'plan',
      'open',
      'review',
      'cancelled',
      'needs_info',
      'verify',
    ];
    const groups = groupsOf(
      project,
      stages.map((stage, at) => task(at + 1, stage)),
      {},
    );
    expect(groups.map(({ stage }) => stage)).toEqual([
      ...['needs_info', 'blocked', 'open'],
      ...['plan', 'implement', 'verify', 'review', 'merge'],
      ...['done', 'cancelled'],
    ]);
    expect(groups[0]?.label).toBe('Needs info');
  });

  test('has the most urgent first, and of finished ones the newest', () => {
    const open = [task(1, 'open', { priority: 3 }), task(2, 'open'), task(3, 'open', { priority: 0 })];
    const [group] = groupsOf(project, open, { open: 3 });
    expect(group?.tasks.map(({ number }) => number)).toEqual([3, 2, 1]);
    const [done] = groupsOf(project, [task(1, 'done'), task(2, 'done')], { done: 900 });
    expect(done).toMatchObject({ count: 900, tasks: [{ number: 2 }, { number: 1 }] });
  });

  test('keeps a stage that no pipeline has', () => {
    expect(groupsOf(project, [task(1, 'elsewhere')], {}).map(({ stage }) => stage)).toEqual(['elsewhere']);
  });

  test.each([
    [{ worker: 'agent-2' }, 'agent-2', 'task active claimed'],
    [{ blocked: { reason: 'conflict' as const, text: '' } }, 'a conflict needs you', 'task active stuck conflict'],
    [{ openQuestions: [{ id: 'q', text: '?' }] }, 'has a question for you', 'task active'],
    [{ unmet: 2, after: [3, 4] }, 'after #3, #4', 'task active'],
    [{ conflictsWith: [4] }, 'will conflict', 'task active'],
  ])('says who works on a task, or why nobody does: %j', (more, note, menu) => {
    const shown = task(9, 'implement', more);
    expect(noteOf(shown)).toBe(note);
    expect(menuOf(shown)).toBe(menu);
  });
});

describe('a task from the code', () => {
  test.each([
    ['// TODO: sort the list', 'sort the list'],
    ['  # FIXME(ada): wrong on Mondays', 'wrong on Mondays'],
    ['/* TODO tidy up */', 'tidy up'],
    ['<!-- TODO: say more -->', 'say more'],
    ['call(); // XXX', 'Do what the TODO comment says'],
  ])('gets its title from the comment %s', (line, text) => expect(todoIn(line)).toBe(text));

  test.each(['const todo = 1;', 'the word TODO in a text', '// autodone'])('is not made from %s', (line) =>
    expect(todoIn(line)).toBeNull(),
  );

  test('names the file and the line', () => {
    expect(draftOfTodo({ path: 'src/list.ts', line: 3 }, 'sort')).toEqual({
      title: 'sort',
      body: expect.stringContaining('src/list.ts, line 3'),
      files: ['src/list.ts'],
    });
  });

  test('keeps a selection whole, whatever it contains', () => {
    const { body } = draftOfSelection({ path: 'a.md', line: 1 }, 'text\n````\ncode\n````', 'markdown');
    expect(body).toContain('\n`````markdown\ntext\n````\ncode\n````\n`````\n');
  });
});

test('a task is put into words with its plan, criteria, runs and questions', () => {
  const detail = {
    task: {
      ...task(7, 'review'),
      body: '',
      plan: 'First this.',
      criteria: [
        { id: 'C1', text: 'newest first', met: true, evidence: '' },
        { id: 'C2', text: 'empty lists', met: null, evidence: '' },
      ],
    },
    origin: null,
    runs: [{ mode: 'implement', startedAt: 0, endedAt: 90_000, outcome: 'pr_ready' }],
    evidence: [],
    questions: [
      { ref: 'Q7.1', status: 'open', text: 'Which format?', context: 'Old files have\nboth.' },
      { ref: 'Q7.2', status: 'answered', text: 'Which year?', context: '' },
    ],
    costUsd: 0.5,
    worktree: null,
  } as unknown as TaskDetail;
  const text = taskText(detail);
  expect(text).toContain('# #7 Task 7\n');
  expect(text).toContain('- [x] newest first\n- [ ] empty lists');
  expect(text).toContain('- implement: pr ready, 1 min');
  expect(text).toContain('## Questions\n\n- Q7.1: Which format?\n\n  Old files have\n  both.\n\n## Plan');
  expect(text).toContain('No description.');
  expect(text).not.toContain('## Evidence');
});
