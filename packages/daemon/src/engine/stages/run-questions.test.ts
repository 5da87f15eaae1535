import { AskedQuestion, type Question } from '@tidemill/contract';
import { questionFingerprint } from '@tidemill/core';
import { expect, test } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { askInRun } from './run-questions.ts';

const hash = (text: string) => text;
const text = 'Which port?';
const asked = AskedQuestion.parse({ text, type: 'blocking' });
const known = {
  ...{ fingerprint: questionFingerprint(text, hash), ref: 'Q7.1', ownId: null, defaultAnswer: null },
} as unknown as Question;

test.each<[string, Partial<Question>, RegExp]>([
  ['was answered before', { status: 'answered', answer: { text: '80' } as never }, /^Q7\.1 is already answered: 80$/],
  ['was dismissed', { status: 'dismissed', answer: null }, /^Q7\.1 was dismissed: use your own judgement\.$/],
  ['holds the task', { status: 'open', answer: null, holds: true }, /^Asked as Q7\.1\. .*needs_info/],
  ['is open', { status: 'open', answer: null, holds: false, defaultAnswer: '80' }, /as if the answer were "80"/],
])('an agent is told in its run how a question stands that %s', async (_how, more, reply) => {
  const deps = { hash, store: { records: async () => [{ ...known, ...more }] } } as unknown as EngineDeps;
  const leased = { task: { id: 'task_1' }, execute: async () => ({ ok: true }) } as unknown as LeasedTask;
  expect(await askInRun(deps, leased, { runId: 'run_1', mode: 'plan' }, [asked])).toMatch(reply);
});
