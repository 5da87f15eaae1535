import type { AskedQuestion } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  call,
  type MessagesScript,
  type MessagesServer,
  startMessagesServer,
  structured,
  toolResults,
} from '../support/model/messages.ts';
import { ClaudeBench, missing } from './claude-bench.ts';

const TOOL = 'mcp__tidemill__ask_person';
const DONE = structured({ outcome: 'pr_ready', summary: 'done' });
const MINUTE = 60_000;

let bench: ClaudeBench;
let server: MessagesServer | undefined;
const serve = async (script: MessagesScript) => {
  server = await startMessagesServer(script);
  return server;
};
const heard = () => toolResults(server!.requests.at(-1)!).at(-1) ?? '';

beforeEach(async (context) => {
  context.skip(missing !== null, missing ?? '');
  bench = await ClaudeBench.open('auto');
});
afterEach(async () => {
  await server?.stop();
  server = undefined;
  await bench?.close();
});

describe('Claude Code asks while it works', { timeout: 2 * MINUTE }, () => {
  it('with a tool, and hears at once what to do meanwhile', async () => {
    const asked: AskedQuestion[][] = [];
    const question = {
      text: 'Tabs or spaces?',
      type: 'clarifying',
      options: [{ label: 'Tabs' }, { label: 'Spaces', recommended: true }],
      default: 'Spaces',
    };
    const { url } = await serve([call(TOOL, { questions: [question, { text: 'And why?' }] }), DONE]);
    const trial = bench.start(url, {
      guard: async ({ tool }) => ({ kind: 'deny', guard: 'all', reason: `${tool} is not for you` }),
      ask: async (questions) => {
        asked.push(questions);
        return 'Asked as Q7.1. Go on.';
      },
    });
    expect(await trial.end).toMatchObject({ kind: 'result', envelope: { outcome: 'pr_ready' } });
    expect(asked).toMatchObject([
      [
        { text: 'Tabs or spaces?', type: 'clarifying', default: 'Spaces', allowFreeText: true },
        { text: 'And why?', type: 'blocking', options: [] },
      ],
    ]);
    expect(heard()).toContain('Asked as Q7.1. Go on.');
  });

  it('and gets an error for an invalid question', async () => {
    const { url } = await serve([call(TOOL, { questions: [{ text: 'x'.repeat(20_001) }] }), DONE]);
    const trial = bench.start(url, { ask: () => Promise.reject(new Error('never asked')) });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(heard()).toContain('at most 20,000 characters');
  });

  it('but has no such tool where nobody could answer', async () => {
    const { url, requests } = await serve([DONE]);
    expect(await bench.start(url, { ask: undefined }).end).toMatchObject({ kind: 'result' });
    expect(requests[0]?.body.tools?.map(({ name }) => name)).not.toContain(TOOL);
  });
});
