import type { IdeaDetail } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IdeaBed, SCENARIO } from '../support/idea-bed.ts';
import { until } from '../support/until.ts';

const bed = new IdeaBed();
const { machine, root, cli, json, shown } = bed;
beforeAll(() => bed.open());
afterAll(() => bed.close());

test('a daemon killed during a reply to an idea loses no message: the next one replies to all', async () => {
  bed.play(`runs:
  - { when: { mode: ideate, attempt: 1 }, do: [{ hang: {} }] }
  - { when: { mode: ideate, prompt: "and at night" }, do: [{ result: { ideation: { reply: "Both, then." } } }] }
`);
  const { number } = (await json<IdeaDetail>('idea', 'Lights for the pier', '--no-wait')).idea;
  const detail = () => shown(String(number));
  await until(async () => (await detail()).idea.briefedUpTo === 1);
  await json('idea', 'say', String(number), 'and at night', '--no-wait');
  await bed.restart();
  await until(async () => (await detail()).messages.at(-1)?.role === 'agent');
  const { idea, messages } = await detail();
  expect(messages.map(({ text }) => text)).toEqual(['Lights for the pier', 'and at night', 'Both, then.']);
  expect(idea).toMatchObject({ jobId: null, hasNews: false, briefedUpTo: 2 });
  const doctor = await cli('doctor');
  expect(doctor.code, doctor.stdout).toBe(0);
}, 120_000);

test('a daemon killed while a question or a search waits goes on with it, and two people are both answered', async () => {
  bed.play(SCENARIO);
  const { number } = (await json<IdeaDetail>('idea', 'A second table for harbours without a network')).idea;
  const idea = String(number);
  const now = () => shown(idea);
  const open = async (part: string) => {
    await until(async () => (await now()).questions.some(({ text }) => text.includes(part)));
    return (await now()).questions.find(({ text }) => text.includes(part))!.ref;
  };
  const who = await open('Who would use this first');
  await bed.restart();
  await cli('answer', who, '--option', '2');
  await bed.restart();
  await cli('answer', await open('The problem so far'), 'Fishermen miss the tide and wait for hours in the cold');
  await until(async () => (await now()).idea.phase === 'NARROWING' && (await now()).idea.jobId === null);

  const write = (by: string, text: string) =>
    machine.ask(root, (api, project) => api.sayToIdea({ project, idea, text, by }));
  await Promise.all([write('ada', 'first a list of heights'), write('bea', 'first a list of times')]);
  await until(async () => (await now()).idea.research?.status === 'wanted' && (await now()).idea.jobId === null);
  const { messages, idea: both } = await now();
  const people = messages.filter(({ role, text }) => role === 'person' && text.startsWith('first a list'));
  expect(people.map(({ by }) => by.name).sort()).toEqual(['ada', 'bea']);
  expect(both).toMatchObject({ hasNews: false, briefedUpTo: expect.any(Number) });
  expect(both.briefedUpTo).toBeGreaterThanOrEqual(Math.max(...people.map((message) => message.number)));

  const search = await open('will be researched');
  await bed.restart();
  await cli('answer', search, '--option', '1');
  await bed.restart();
  await until(async () => (await now()).idea.research?.status === 'done');
  const asked = await machine.events(root, ['question.asked']);
  const about = asked.flatMap(({ body }) =>
    body.type === 'question.asked' && body.question.subjectId === both.id ? body.question.sourceId : [],
  );
  expect(about).toHaveLength(new Set(about).size);
}, 180_000);
