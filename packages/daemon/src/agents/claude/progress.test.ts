import { describe, expect, test } from 'vitest';
import { readMessage } from './messages.ts';
import { ClaudeProgress } from './progress.ts';

let answers = 0;
/** An answer of the model that uses a tool. */
const use = (id: string, name: string, input: object, more: object = {}) => {
  answers += 1;
  const message = { id: `msg_${answers}`, model: 'claude', content: [{ type: 'tool_use', id, name, input }] };
  return { type: 'assistant', parent_tool_use_id: null, message, ...more };
};
const result = (id: string, content: string, more: object = {}, data?: unknown) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id: id, content, ...more }] },
  ...(data === undefined ? {} : { tool_use_result: data }),
});

/** What is known after these messages, as the engine sums it up. */
function after(...messages: object[]) {
  const progress = new ClaudeProgress(50);
  let known = {};
  for (const raw of messages) known = { ...known, ...progress.take(readMessage(raw)!) };
  return known;
}

describe('the progress of Claude Code', () => {
  test('counts turns and tools, and names the tool that runs', () => {
    const bash = use('t1', 'Bash', { command: 'npm test', description: 'test it' });
    const used = after(bash);
    expect(used).toEqual({ turns: { used: 1, limit: 50 }, tools: { used: 1, current: 'Bash: npm test' } });
    expect(after(bash, result('t1', 'ok'))).toMatchObject({ tools: { used: 1, current: null } });
  });

  test('counts an answer in several pieces once, and no turn of a subagent', () => {
    const first = use('t1', 'Task', { prompt: 'look' });
    const second = { ...use('t2', 'Read', { file_path: 'a' }), message: { ...first.message, content: [] } };
    const sub = use('t3', 'Grep', { pattern: 'x' }, { parent_tool_use_id: 't1' });
    expect(after(first, second, sub)).toEqual({
      turns: { used: 1, limit: 50 },
      tools: { used: 2, current: 'Grep: x' },
    });
  });

  test('takes the list that older versions write as a whole', () => {
    const todos = [
      { content: 'read', status: 'completed', activeForm: 'reading' },
      { content: 'write', status: 'in_progress', activeForm: 'writing' },
      { content: 'test', status: 'pending', activeForm: 'testing' },
    ];
    expect(after(use('t1', 'TodoWrite', { todos }), result('t1', 'ok'))).toMatchObject({
      tools: { used: 0, current: null },
      todo: [
        { text: 'read', status: 'done' },
        { text: 'write', status: 'active' },
        { text: 'test', status: 'pending' },
      ],
    });
  });

  test('follows the tasks that newer versions keep', () => {
    const made = (id: string, subject: string) => [
      use(`c${id}`, 'TaskCreate', { subject, description: 'd' }),
      result(`c${id}`, `Task #${id} created successfully: ${subject}`, {}, { task: { id, subject } }),
    ];
    const set = (id: string, status: string) => [
      use(`u${id}${status}`, 'TaskUpdate', { taskId: id, status }),
      result(`u${id}${status}`, 'Updated'),
    ];
    expect(
      after(
        ...made('1', 'read'),
        ...made('2', 'write'),
        ...made('3', 'x'),
        ...set('1', 'completed'),
        ...set('2', 'in_progress'),
        ...set('3', 'deleted'),
      ),
    ).toMatchObject({
      todo: [
        { text: 'read', status: 'done' },
        { text: 'write', status: 'active' },
      ],
    });
    // Without data, the id is in the words.
    const words = [use('c', 'TaskCreate', { subject: 'read' }), result('c', 'Task #7 created successfully: read')];
    expect(after(...words, ...set('7', 'completed'))).toMatchObject({ todo: [{ text: 'read', status: 'done' }] });
    const listed = { tasks: [{ id: '1', subject: 'read', status: 'completed' }] };
    expect(after(use('l', 'TaskList', {}), result('l', '#1', {}, listed))).toMatchObject({
      todo: [{ text: 'read', status: 'done' }],
    });
  });

  test('ignores refused calls, the lists of subagents, and the result', () => {
    const todos = [{ content: 'read', status: 'completed' }];
    const refused = after(use('t1', 'TodoWrite', { todos }), result('t1', 'No such tool', { is_error: true }));
    const sub = after(use('t1', 'TodoWrite', { todos }, { parent_tool_use_id: 't0' }), result('t1', 'ok'));
    const malformed = after(use('t1', 'TodoWrite', { todos: 'all' }), result('t1', 'ok'));
    for (const known of [refused, sub, malformed]) expect(known).not.toHaveProperty('todo');
    expect(after(use('t1', 'StructuredOutput', { outcome: 'pr_ready' }))).toMatchObject({
      tools: { used: 0, current: null },
    });
  });
});
