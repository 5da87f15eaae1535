import { AccessRole, type Mode } from '@tidemill/contract';
import { tokensOf } from '@tidemill/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { McpBed, use } from '../../../../test/support/mcp-bed.ts';

let bed: McpBed;
let own: number;
let other: number;

beforeAll(async () => {
  bed = await McpBed.open();
  const { api, project } = bed.served;
  own = (await api.addTask({ project, title: 'Mine', accept: ['It works'] })).number;
  other = (await api.addTask({ project, title: 'Not mine' })).number;
});
afterAll(() => bed.close());

const post = (authorization?: string) =>
  fetch(new URL('/mcp', bed.served.url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  });

describe('tool lists by role', () => {
  test.each(AccessRole.options)('%s sees what its routes allow', async (role) => {
    const { tools } = await (await bed.connect(role)).listTools();
    const operations = (name: string) => {
      const found = tools.find((tool) => tool.name === name)?.inputSchema.properties?.op as
        | { enum: string[] }
        | undefined;
      return found?.enum ?? [];
    };
    const mayAdd = role === 'operator' || role === 'admin' || role === 'agent';
    expect(operations('tasks').includes('create')).toBe(mayAdd);
    expect(operations('questions').includes('answer')).toBe(mayAdd);
    expect(operations('tasks').includes('claim')).toBe(role === 'worker' || role === 'admin');
    expect(tools.some(({ name }) => name === 'store_trace')).toBe(mayAdd);
  });

  test('a builder has the tools of its run within 2,500 tokens', async () => {
    const { client } = await bed.agentOf(own);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['status', 'tasks', 'questions', 'knowledge', 'query_traces', 'get_trace', 'store_trace'],
      ...['evidence', 'search_logs', 'extract_patterns'],
    ]);
    expect(tokensOf(JSON.stringify(tools))).toBeLessThanOrEqual(2500);
  });

  test('a reviewer stores nothing', async () => {
    const { client } = await bed.agentOf(own, 'review');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('store_trace');
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  });
});

describe('the agent of a run', () => {
  test('reads its project and stores what it learned, under its own name', async () => {
    const { client } = await bed.agentOf(own);
    expect((await use(client, 'tasks', { op: 'show', task: other })).text).toContain('Not mine');
    const stored = await use(client, 'store_trace', { type: 'decision', what: 'Used a map', why: 'it is faster' });
    const id = /trace_\w+/.exec(stored.text)![0];
    const trace = await bed.served.api.trace({ project: bed.served.project, trace: id });
    expect(trace).toMatchObject({
      source: 'agent',
      task: own,
      runId: `run_of_${own}_implement`,
      by: { kind: 'agent' },
    });
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['answer its own question', 'questions', { op: 'answer', question: 'Q1.1', answer: 'yes' }],
    ['comment on a task', 'tasks', { op: 'comment', task: 2, text: 'Approve me' }],
    ['create a task', 'tasks', { op: 'create', title: 'More work' }],
    ['claim work', 'tasks', { op: 'claim', worker: 'me' }],
    ['store for another task', 'store_trace', { type: 'note', what: 'x', task: 2 }],
    ['store a correction, which is a person’s', 'store_trace', { type: 'correction', what: 'Tests may be skipped' }],
    ['choose what is counted', 'store_trace', { type: 'note', what: 'x', key: 'guard:tests' }],
    ['record a lesson', 'knowledge', { lesson: 'Tests may be skipped' }],
    ['choose another project', 'tasks', { op: 'list', projectRoot: '/' }],
    ['search the output of another task', 'search_logs', { task: 2 }],
    ['read another run', 'search_logs', { run: 'run_of_2_implement' }],
  ])('cannot %s', async (_what, name, input) => {
    const { client } = await bed.agentOf(own);
    const before = (await bed.served.api.status({ project: bed.served.project })).lastSeq;
    expect(await use(client, name, input)).toMatchObject({ isError: true });
    expect((await bed.served.api.status({ project: bed.served.project })).lastSeq).toBe(before);
  });

  test.each(['GET /v1/projects', 'GET /v1/tokens', 'GET /metrics', 'GET /openapi.json', 'POST /v1/stop'])(
    'has a token that opens nothing else: %s',
    async (route) => {
      const [method = '', path = ''] = route.split(' ');
      const { door } = await bed.agentOf(own);
      const answer = await bed.served.ask(path, {
        ...{ method, headers: { authorization: `Bearer ${door.token}` } },
        ...(method === 'GET' ? {} : { body: '{}' }),
      });
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('for MCP only');
    },
  );

  test('has a token that ends with the run, also for a connected client', async () => {
    const { client, door, close } = await bed.agentOf(own);
    expect((await use(client, 'status')).isError).toBe(false);
    close();
    await expect(use(client, 'status')).rejects.toThrow(/401|expired/i);
    const answer = await post(`Bearer ${door.token}`);
    expect(answer.status).toBe(401);
    expect(await answer.text()).toContain('its run has ended');
  });

  test('with the token of another run is bound to that one', async () => {
    const { door } = await bed.agentOf(other);
    const thief = await bed.connectWith(door.token);
    expect(await use(thief, 'search_logs', { task: own })).toMatchObject({ isError: true });
  });

  test.each<[string, string | undefined]>([
    ['none', undefined],
    ['an invented one', 'Bearer tidemill_run_abcdefghijklmnopqrstuvwxyz'],
    ['half of one', 'Bearer tidemill_run_'],
    ['another scheme', 'Basic YTpi'],
  ])('without a valid token is refused: %s', async (_what, authorization) => {
    expect((await post(authorization)).status).toBe(401);
  });
});

test('every mode has a role', async () => {
  const modes: Mode[] = ['plan', 'judge', 'specify', 'analyse', 'propose'];
  for (const mode of modes) {
    const { client } = await bed.agentOf(own, mode);
    expect((await use(client, 'status')).isError).toBe(false);
  }
});
