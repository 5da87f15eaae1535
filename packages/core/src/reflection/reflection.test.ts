import type { AgentEnvelope, Job, Reflection } from '@tidemill/contract';
import { beforeEach, describe, expect, test } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';

const projectId = 'project_1';
const reflectionId = 'reflection_1';
const result = {
  assumption: 'The builder assumed that parse() returns null, but it throws.',
  evidence: 'gate test',
  divergences: [],
};
const prevention = {
  kind: 'gotcha' as const,
  text: 'parse() in src/parse.ts throws for an empty text.',
  why: '',
  filePatterns: ['src/parse.ts'],
  action: null,
  topics: [],
};

let mill: Mill;
let taskId: string;
beforeEach(() => {
  mill = new Mill();
  taskId = mill.add();
});
const request = () =>
  mill.must({
    type: 'reflection.request',
    projectId,
    reflectionId,
    reflection: {
      about: { kind: 'task', id: taskId, number: 1, title: 'Parse' },
      why: 'gates sent the agent back once',
      facts: 'x'.repeat(50_000),
      files: [],
      traceIds: [],
      metrics: { tasks: 1, firstPass: 0, taught: 0, taughtFirstPass: 0, durationMs: 1, tokens: 1 },
    },
  });
const reflection = () => mill.records.get(reflectionId) as Reflection;
const openJob = () =>
  [...mill.records.values()].find((each): each is Job => each.noun === 'job' && each.status === 'open');
/** The review agent does the open job. */
function answer(envelope: AgentEnvelope): void {
  const { id: jobId, mode } = openJob()!;
  mill.must({ type: 'job.claim', projectId, workerId: 'reviewer', owner: 'd', isBackground: true });
  const token = openJob()!.lease!.token;
  const fence = { projectId, subjectId: reflectionId, jobId, token };
  const runId = `run_${mill.runs.size + 1}`;
  mill.must({ type: 'run.start', ...fence, runId, mode, agent: 'scripted' });
  const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.01, requests: 1 };
  mill.must({ type: 'run.finish', ...fence, runId, outcome: envelope.outcome, envelope, usage });
}

describe('a reflection', () => {
  test('asks twice: first which assumption failed, then how to prevent it; its facts are limited', () => {
    request();
    expect(reflection()).toMatchObject({ status: 'reflecting' });
    expect(reflection().facts).toHaveLength(6_000);
    expect(openJob()).toMatchObject({ mode: 'reflect', subjectId: reflectionId });
    answer({ outcome: 'reflected', summary: '', reflection: result });
    expect(reflection()).toMatchObject({ status: 'preventing', result });
    expect(openJob()).toMatchObject({ mode: 'prevent', subjectId: reflectionId });
    answer({ outcome: 'prevented', summary: '', prevention });
    expect(reflection()).toMatchObject({ status: 'prevented', prevention, runId: 'run_2' });
    expect(openJob()).toBeUndefined();
  });

  test('returns to its task as the last attempt, once, and not to a task that has landed', () => {
    request();
    const end = {
      type: 'reflection.end',
      projectId,
      reflectionId,
      outcome: 'x',
      lessonId: 'lesson_1',
      taskId,
    } as const;
    expect(mill.refusal(end)).toBe('conflict');
    answer({ outcome: 'reflected', summary: '', reflection: result });
    answer({ outcome: 'prevented', summary: '', prevention });
    mill.must(end);
    expect(reflection()).toMatchObject({ status: 'done', lessonId: 'lesson_1' });
    const told = () => mill.task(taskId).context.filter(({ entryType }) => entryType === 'last_attempt');
    expect(told()).toMatchObject([
      { source: 'engine', summary: expect.stringContaining('The assumption that failed: The builder assumed') },
    ]);
    expect(told()[0]?.summary).toContain('To prevent it: parse() in src/parse.ts throws');
    expect(mill.must(end)).toEqual([]);
    expect(told()).toHaveLength(1);
  });

  test('is requested once for an ending', () => {
    request();
    expect(request()).toEqual([]);
  });

  test('ends without a lesson when there is nothing to learn', () => {
    request();
    answer({ outcome: 'no_lesson', summary: 'only the network failed' });
    expect(reflection()).toMatchObject({
      status: 'done',
      outcome: 'nothing to learn: only the network failed',
      lessonId: null,
    });
    expect(openJob()).toBeUndefined();
  });

  test('fails when its job does, and its agent cannot ask people', () => {
    request();
    const { id: jobId } = openJob()!;
    mill.must({ type: 'job.cancel', projectId, subjectId: reflectionId, jobId, why: 'stopped', isFailed: true });
    expect(reflection()).toMatchObject({ status: 'failed', outcome: 'stopped' });
    expect([...mill.records.values()].some(({ noun }) => noun === 'question')).toBe(false);
  });
});
