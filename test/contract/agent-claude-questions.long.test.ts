import type { AskedQuestion } from '@tidemill/contract';
import { describe, expect, it } from 'vitest';
import {
  call,
  type MessagesScript,
  type MessagesServer,
  say,
  structured,
  toolResults,
} from '../support/model/messages.ts';
import type { ClaudeBench } from './claude-bench.ts';
import { onClaudeBench } from './claude-suite.ts';

const TOOL = 'mcp__person__ask_person';
const DONE = structured({ outcome: 'pr_ready', summary: 'done' });
const PORT = {
  ...{ id: 'port', type: 'clarifying', text: 'Which port?' },
  options: [{ label: '8080', recommended: true }, '9090'],
};
const ASKS = { outcome: 'needs_info', summary: 'cannot choose', open_questions: [PORT, 'And why?'] };

let bench: ClaudeBench;
let server: MessagesServer;
const serve = async (script: MessagesScript) => {
  server = await bench.model(script);
  return server;
};
const heard = () => toolResults(server.requests.at(-1)!).at(-1) ?? '';
onClaudeBench((opened) => {
  bench = opened;
});

describe('Claude Code asks while it works', () => {
  it('with a tool, and hears at once what to do meanwhile', async () => {
    const asked: AskedQuestion[][] = [];
    const question = {
      text: 'Tabs or spaces?',
      type: 'clarifying',
      options: ['Tabs', { label: 'Spaces', recommended: true }],
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
        {
          ...{ text: 'Tabs or spaces?', type: 'clarifying', default: 'Spaces', allowFreeText: true },
          options: [{ label: 'Tabs' }, { label: 'Spaces' }],
        },
        { text: 'And why?', type: 'blocking', options: [] },
      ],
    ]);
    expect(heard()).toContain('Asked as Q7.1. Go on.');
  });

  it('and a question that is too long is cut, not lost; one without words is an error', async () => {
    const { url } = await serve([
      call(TOOL, { questions: [{ text: 'x'.repeat(20_001) }] }),
      call(TOOL, { questions: [{ text: ' ' }] }),
      DONE,
    ]);
    expect(await bench.start(url).end).toMatchObject({ kind: 'result' });
    expect(bench.asked.map(({ text }) => text.length)).toEqual([20_000]);
    expect(heard()).toContain('there is no question in it');
  });

  it.each([
    ['with its tool for the result', structured(ASKS)],
    ['in words', say(`I cannot choose.\n\`\`\`json\n${JSON.stringify(ASKS)}\n\`\`\``)],
  ])('and ends %s without being told that nothing was changed', async (_how, answer) => {
    const { url, requests } = await serve([answer, structured(ASKS)]);
    const trial = bench.start(url, { beforeStop: async () => 'You have not changed any file yet.' });
    const options = [{ label: '8080', recommended: true }, { label: '9090' }];
    expect(await trial.end).toMatchObject({
      kind: 'result',
      envelope: {
        outcome: 'needs_info',
        open_questions: [
          { ...PORT, options },
          { text: 'And why?', type: 'blocking' },
        ],
      },
    });
    expect(JSON.stringify(requests)).not.toContain('not changed any file');
  });

  it('but has no such tool where nobody could answer', async () => {
    const { url, requests } = await serve([DONE]);
    expect(await bench.start(url, { ask: undefined }).end).toMatchObject({ kind: 'result' });
    expect(requests[0]?.body.tools?.map(({ name }) => name)).not.toContain(TOOL);
  });
});
