import { randomUUID } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import { AskedQuestion } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { McpBed, use } from '../../../../test/support/mcp-bed.ts';
import { textOf } from '../../../../test/support/mcp-client.ts';

let bed: McpBed;
beforeAll(async () => {
  bed = await McpBed.open();
});
afterAll(() => bed.close());

/** A question about a new task. Returns its name. */
async function asked(more: object = { options: [{ label: 'Tabs' }, { label: 'Spaces' }] }): Promise<string> {
  const { api, project } = bed.served;
  const { id: taskId, stage } = await api.addTask({ project, title: 'Ask me' });
  const question = AskedQuestion.parse({ text: `Tabs or spaces? ${randomUUID()}`, ...more });
  const asker = { agent: 'claude', source: 'engine', sourceId: randomUUID() } as const;
  await bed.served.must({ type: 'question.ask', projectId: project, taskId, stage, questions: [question], ...asker });
  const open = await api.questions({ project });
  return open.find((each) => each.taskId === taskId)!.ref;
}

const answerOf = async (ref: string) => {
  const all = await bed.served.api.questions({ project: bed.served.project, all: true });
  return all.find((each) => each.ref === ref)!.answer;
};

/** A client whose person fills in forms. */
async function asking(reply: (message: string) => object): Promise<{ client: Client; forms: string[] }> {
  const forms: string[] = [];
  const client = await bed.connect('operator', { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', async ({ params: { message } }) => {
    forms.push(message);
    return reply(message) as never;
  });
  return { client, forms };
}

test('a client that shows forms asks its person; what the model proposes is a suggestion', async () => {
  const ref = await asked();
  const { client, forms } = await asking(() => ({ action: 'accept', content: { answer: 'Spaces' } }));
  const told = await use(client, 'questions', { op: 'answer', question: ref, answer: 'Tabs' });
  expect(told.text).toBe(`${ref} is answered by the person.`);
  expect(forms[0]).toContain('The assistant suggests: Tabs');
  expect(await answerOf(ref)).toMatchObject({ option: 'Spaces', by: { kind: 'token', name: 'the-operator' } });
});

test('a question in the list names its task once', async () => {
  const ref = await asked({ text: '#1 Ask me: tabs or spaces?' });
  const { number } = (await bed.served.api.questions({ project: bed.served.project })).find((q) => q.ref === ref)!
    .task!;
  const again = await asked({ text: `#${number + 1} Ask me: tabs or spaces?` });
  const { text } = await use(await bed.connect('viewer'), 'questions', { op: 'list' });
  expect(text).toContain(`${again} blocking #${number + 1}: tabs or spaces?`);
});

test('a person who declines leaves the question open', async () => {
  const ref = await asked();
  const { client } = await asking(() => ({ action: 'decline' }));
  expect((await use(client, 'questions', { op: 'answer', question: ref })).text).toContain('stays open');
  expect(await answerOf(ref)).toBeNull();
});

test('a person may answer in words of their own', async () => {
  const ref = await asked({});
  const { client } = await asking(() => ({ action: 'accept', content: { answer: 'Whatever gofmt says' } }));
  await use(client, 'questions', { op: 'answer', question: ref });
  expect(await answerOf(ref)).toMatchObject({ text: 'Whatever gofmt says' });
});

test('a client without forms is told the command that a person would use, and answers nothing', async () => {
  const ref = await asked();
  const client = await bed.connect('operator', { era: 'legacy' });
  expect((await use(client, 'questions', { op: 'show', question: ref })).text).toContain('2. Spaces');
  const told = await use(client, 'questions', { op: 'answer', question: ref, answer: '2' });
  expect(told).toMatchObject({ isError: true });
  expect(told.text).toContain(`tidemill answer ${ref} TEXT`);
  expect(await answerOf(ref)).toBeNull();
});

test('an agent’s token answers nothing, also by a form that its client fills in', async () => {
  const ref = await asked();
  const client = await bed.connect('agent', { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { answer: 'Tabs' } }));
  const told = await use(client, 'questions', { op: 'answer', question: ref, answer: 'Tabs' });
  expect(told.text).toContain('this connection belongs to an agent');
  expect(await answerOf(ref)).toBeNull();
});

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
};

/** A request as a hostile client would write it. */
async function raw(token: string, question: string, more: object): Promise<{ result?: object; error?: object }> {
  const params = { name: 'questions', arguments: { op: 'answer', question }, _meta: MODERN, ...more };
  const answer = await fetch(new URL('/mcp', bed.served.url), {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
      ...{ 'mcp-method': 'tools/call', 'mcp-name': 'questions' },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  return (await answer.json()) as { result?: object; error?: object };
}

test('a state that was changed, is another’s or is for another question is refused', async () => {
  const { api } = bed.served;
  const { token } = await api.addToken({ name: 'ada', role: 'operator' });
  const { token: mallory } = await api.addToken({ name: 'mallory', role: 'operator' });
  const [ref, other] = [await asked(), await asked()];
  const first = await raw(token, ref, {});
  const { requestState } = first.result as { requestState: string };
  expect(first.result).toMatchObject({ resultType: 'input_required' });
  const inputResponses = { answer: { action: 'accept', content: { answer: 'Tabs' } } };
  const changed = `${requestState.slice(0, -2)}${requestState.endsWith('AA') ? 'BB' : 'AA'}`;
  const refused = { error: { code: -32602 } };
  expect(await raw(token, ref, { inputResponses, requestState: changed })).toMatchObject(refused);
  expect(await raw(token, ref, { inputResponses, requestState: 'x' })).toMatchObject(refused);
  expect(await raw(mallory, ref, { inputResponses, requestState })).toMatchObject(refused);
  expect(await raw(token, other, { inputResponses, requestState })).toMatchObject({ result: { isError: true } });
  expect(await raw(token, ref, { inputResponses })).toMatchObject({ result: { isError: true } });
  expect([await answerOf(ref), await answerOf(other)]).toEqual([null, null]);
  expect(await raw(token, ref, { inputResponses, requestState })).toMatchObject({ result: { resultType: 'complete' } });
  expect(await answerOf(ref)).toMatchObject({ option: 'Tabs', by: { name: 'ada' } });
});

const TASKS = 'io.modelcontextprotocol/tasks';

async function rpc(token: string, method: string, name: string, params: object) {
  const _meta = {
    ...MODERN,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [TASKS]: {} } },
  };
  const answer = await fetch(new URL('/mcp', bed.served.url), {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
      ...{ 'mcp-method': method, 'mcp-name': name },
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  return (await answer.json()) as { result: Record<string, unknown>; error?: object };
}

test('long work is an MCP task: it works, asks, is answered, and ends', async () => {
  const { api, project } = bed.served;
  const { token } = await api.addToken({ name: 'waiter', role: 'operator' });
  const { token: viewer } = await api.addToken({ name: 'watcher', role: 'viewer' });
  const ref = await asked();
  const number = Number(/^Q(\d+)/.exec(ref)![1]);
  const begun = await rpc(token, 'tools/call', 'tasks', { name: 'tasks', arguments: { op: 'wait', task: number } });
  expect(begun.result).toMatchObject({ resultType: 'task', status: 'input_required', pollIntervalMs: 5000 });
  const taskId = String(begun.result.taskId);
  const get = () => rpc(token, 'tasks/get', taskId, { taskId });
  expect((await get()).result).toMatchObject({ inputRequests: { [ref]: { method: 'elicitation/create' } } });
  const inputResponses = { [ref]: { action: 'accept', content: { answer: 'Tabs' } } };
  expect(await rpc(viewer, 'tasks/update', taskId, { taskId, inputResponses })).toMatchObject({
    error: { code: -32602 },
  });
  expect((await rpc(token, 'tasks/update', taskId, { taskId, inputResponses })).error).toBeUndefined();
  expect(await answerOf(ref)).toMatchObject({ option: 'Tabs' });
  expect((await get()).result).toMatchObject({ status: 'working' });
  // Cancelling the waiting does not cancel the work, which may be somebody else's.
  expect((await rpc(token, 'tasks/cancel', taskId, { taskId })).error).toBeUndefined();
  expect((await get()).result).toMatchObject({ status: 'working' });
  await api.cancelTask({ project, task: number });
  expect((await get()).result).toMatchObject({ status: 'cancelled' });
  expect(await rpc(token, 'tasks/get', 'x', { taskId: 'x' })).toMatchObject({ error: { code: -32602 } });
});

test('a client without MCP tasks waits in the call, and hears of the question', async () => {
  const { api, project } = bed.served;
  const { id: taskId, stage, number } = await api.addTask({ project, title: 'Wait for me' });
  const client = await bed.connect('viewer');
  const { promise: isWaiting, resolve: onprogress } = Promise.withResolvers<unknown>();
  const call = { name: 'tasks', arguments: { op: 'wait', task: number } };
  const told = client.callTool(call, { onprogress });
  expect(await Promise.race([isWaiting, told])).toMatchObject({ message: `#${number} is in stage ${stage}` });
  const asker = { agent: 'claude', source: 'engine', sourceId: randomUUID() } as const;
  const questions = [AskedQuestion.parse({ text: 'Tabs or spaces?' })];
  await bed.served.must({ type: 'question.ask', projectId: project, taskId, stage, questions, ...asker });
  expect(textOf(await told)).toContain(`#${number} waits for 1 answers`);
});

test('MCP resources and prompts show tasks and what waits', async () => {
  const ref = await asked();
  const number = /^Q(\d+)/.exec(ref)![1]!;
  const client = await bed.connect('viewer');
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    expect.arrayContaining(['tidemill://inbox', `tidemill://task/${number}`]),
  );
  const read = await client.readResource({ uri: `tidemill://task/${number}` });
  expect(JSON.stringify(read)).toContain('Ask me');
  const inbox = await client.getPrompt({ name: 'inbox' });
  expect(JSON.stringify(inbox)).toContain(ref);
  await expect(client.readResource({ uri: 'tidemill://task/x' })).rejects.toThrow(/not a task number/);
});
