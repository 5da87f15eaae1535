import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionAnswer } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const sandbox = await sandboxStatus();

/** Tries to ask for something itself, and says what came of it. */
const AGENT = `import { readFileSync, writeFileSync } from 'node:fs';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
let tried = 'wrote a request';
try {
  writeFileSync(process.env.ASK_AT, '{"request":"create","title":"More rights for me"}');
} catch (error) {
  tried = error.code;
}
writeFileSync('work-' + task.number + '.txt', 'done');
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: tried }));
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let folder: string;

const configOf = (more: string) =>
  [
    'target: main',
    'pipeline: quick',
    'agents:',
    `  default: { type: command, command: [node, agent.mjs], env: { ASK_AT: ${JSON.stringify(join(folder, 'agent-1.request.json'))} } }`,
    'gates:',
    '  - { name: test, run: "true" }',
    more,
  ].join('\n');

beforeAll(async () => {
  machine = new TidemillHome({ USER: 'ada' });
  repository = new TemporaryRepository({ 'agent.mjs': AGENT });
  root = repository.root;
  folder = join(root, '.claude-sessions');
  repository.write({ '.tidemill/config.yaml': configOf('') });
  await machine.up(root);
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

const answerFile = () => join(folder, 'agent-1.answer.json');
/** As another program would: complete at once. */
async function ask(request: unknown, format = 'json'): Promise<SessionAnswer> {
  rmSync(answerFile(), { force: true });
  const text = format === 'json' ? JSON.stringify(request) : String(request);
  writeFileSync(join(folder, 'tool.tmp'), text);
  renameSync(join(folder, 'tool.tmp'), join(folder, `agent-1.request.${format}`));
  await until(() => existsSync(answerFile()));
  return SessionAnswer.parse(JSON.parse(readFileSync(answerFile(), 'utf8')));
}
const tasks = () => machine.ask(root, (api, project) => api.tasks({ project }));
const response = () => readFileSync(join(folder, 'agent-1.response.md'), 'utf8');

describe('requests in .claude-sessions', () => {
  test('pause, add, start and message reach the agent; its response says what it did', {
    timeout: 3 * MINUTE,
  }, async (context) => {
    context.skip(!sandbox.available, 'requests need the sandbox');
    expect(await ask({ request: 'pause', id: 'one' })).toMatchObject({ ok: true, id: 'one', request: 'pause' });
    expect(await ask('/project-create Log out\n\nEnds the session.', 'md')).toMatchObject({
      ok: true,
      text: '#1 was added',
    });
    expect(await ask({ request: 'start', task: 1 })).toMatchObject({
      ok: true,
      text: expect.stringContaining('paused'),
    });
    expect(await ask({ request: 'message', task: 1, text: 'Mind the tests.' })).toMatchObject({ ok: true });
    const { task } = await machine.ask(root, (api, project) => api.task({ project, task: '1' }));
    expect(task).toMatchObject({
      title: 'Log out',
      body: 'Ends the session.',
      assignee: expect.stringContaining('agent-1'),
    });
    expect(task.context.map(({ summary }) => summary)).toContain('Mind the tests.');
    expect(existsSync(join(folder, 'agent-1.response.md'))).toBe(false);
    expect(await ask({ request: 'resume' })).toMatchObject({ ok: true });
    await machine.idle(root);
    await until(() => existsSync(join(folder, 'agent-1.response.md')));
    expect(response()).toContain('**Status:** COMPLETED');
    expect(response()).toContain('**Branch:** task/1');
    expect(response()).toContain('- `work-1.txt`');
    // The agent's own request: its sandbox does not show the folder.
    expect(response()).toContain('> ENOENT');
    expect((await tasks()).map(({ title }) => title)).toEqual(['Log out']);
  });

  test('are refused with a reason and kept aside when they are bad', { timeout: MINUTE }, async (context) => {
    context.skip(!sandbox.available, 'requests need the sandbox');
    const kept = join(folder, 'agent-1.request.refused');
    for (const [request, text] of [
      [{ request: 'rule the world' }, 'was not understood'],
      [{ request: 'start', task: 99 }, 'there is no task #99'],
      [{ request: 'start', task: 1 }, '#1 is done'],
      [{ request: 'message', text: 'Hello' }, 'has no task'],
    ] as const) {
      rmSync(kept, { force: true });
      const hint = expect.stringMatching(/\S/);
      expect(await ask(request)).toMatchObject({ ok: false, text: expect.stringContaining(text), hint });
      await until(() => existsSync(kept));
      expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual(request);
    }
  });

  test('are refused where an agent could write them: in a folder it may write, and without a sandbox', {
    timeout: MINUTE,
  }, async (context) => {
    context.skip(!sandbox.available, 'requests need the sandbox');
    for (const [more, why] of [
      [
        '  plan: { type: command, command: [node, agent.mjs], writable: [.claude-sessions] }',
        'may write .claude-sessions',
      ],
      ['sandbox: off', 'without a sandbox'],
    ] as const) {
      const text = more.startsWith(' ') ? configOf('').replace('gates:', `${more}\ngates:`) : configOf(more);
      repository.write({ '.tidemill/config.yaml': text });
      await until(async () => (await ask({ request: 'resume' })).text.includes(why));
      expect(await ask({ request: 'pause' })).toMatchObject({ ok: false });
    }
    const workers = await machine.ask(root, (api, project) => api.workers({ project }));
    expect(workers.find(({ name }) => name === 'agent-1')).toMatchObject({ desired: 'running' });
  });
});
