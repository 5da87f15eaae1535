import { expect, test } from 'vitest';
import { type CodexEvent, createEventReader } from './events.ts';
import { CodexProgress } from './progress.ts';

/** The lines that `codex exec --json` printed, as its events. */
function events(...lines: object[]): CodexEvent[] {
  const seen: CodexEvent[] = [];
  const reader = createEventReader(
    (event) => seen.push(event),
    () => undefined,
  );
  for (const line of lines) reader.push(Buffer.from(`${JSON.stringify(line)}\n`));
  reader.end();
  return seen;
}
const reports = (progress: CodexProgress, ...lines: object[]) =>
  events(...lines).flatMap((event) => progress.take(event) ?? []);

test('the plan of Codex is the to-do list', () => {
  const items = [
    { text: 'read', completed: true },
    { text: 'write', completed: false },
  ];
  const progress = new CodexProgress(10);
  for (const type of ['item.started', 'item.updated', 'item.completed'])
    expect(reports(progress, { type, item: { id: 'item_0', type: 'todo_list', items } })).toEqual([
      {
        todo: [
          { text: 'read', status: 'done' },
          { text: 'write', status: 'pending' },
        ],
      },
    ]);
});

test('tools of Codex are counted once, also over a second process, and the running one is named', () => {
  const progress = new CodexProgress(10);
  const command = "/bin/bash -lc 'npm test'";
  const item = { id: 'item_1', type: 'command_execution', command };
  const both = [
    { type: 'item.started', item },
    { type: 'item.completed', item: { ...item, exit_code: 0 } },
  ];
  progress.begin();
  expect(reports(progress, ...both)).toEqual([
    { tools: { used: 1, current: 'npm test' } },
    { tools: { used: 1, current: null } },
  ]);
  progress.begin();
  expect(reports(progress, ...both).at(-1)).toEqual({ tools: { used: 2, current: null } });
  expect(reports(progress, { type: 'item.completed', item: { id: 'item_2', type: 'agent_message' } })).toEqual([]);
});

test('turns of Codex are the requests to the model, reported when they change', () => {
  const progress = new CodexProgress(10);
  expect([progress.requests(0), progress.requests(3), progress.requests(3)]).toEqual([
    null,
    { turns: { used: 3, limit: 10 } },
    null,
  ]);
});
