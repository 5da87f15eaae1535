import {
  type AgentEnvelope,
  type FeedbackAnalysis,
  type FeedbackItem,
  type Job,
  personActor,
} from '@tidemill/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';

const projectId = 'project_1';
const feedbackId = 'feedback_1';
const by = personActor('ada');
const bug: FeedbackAnalysis = { kind: 'bug', title: 'Mend it', body: 'b', criteria: ['c'], files: [], confidence: 1 };
const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0, requests: 1 };
const asks = { outcome: 'needs_info', summary: 'vague', open_questions: [{ text: 'Which?' }] };

let mill: Mill;
beforeEach(() => {
  mill = new Mill();
  mill.must({ type: 'feedback.give', projectId, feedbackId, text: 'It is wrong\nagain', by });
});

const item = () => mill.records.get(feedbackId) as FeedbackItem;
const analyse = () => mill.must({ type: 'feedback.analyse', projectId, feedbackId, by });
const file = (linkedTask: number | null = null) =>
  mill.must({ type: 'feedback.file', projectId, feedbackId, taskId: 'task_f', linkedTask, linkedSpec: null });
const questions = () => [...mill.records.values()].filter(({ noun }) => noun === 'question');
const job = () => mill.records.get(item().jobId!) as Job;

/** A run of the analysis with this result. */
function finish(result: object, more: object = {}): void {
  mill.must({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'daemon-1' });
  const fence = { projectId, subjectId: feedbackId, jobId: job().id, token: job().lease!.token };
  const runId = `run_${mill.runs.size + 1}`;
  mill.must({ type: 'run.start', ...fence, runId, mode: 'analyse', agent: 'scripted' });
  const envelope = { summary: '', ...result } as AgentEnvelope;
  const { outcome } = envelope;
  mill.must({ type: 'run.finish', ...fence, runId, outcome, envelope: asked(envelope), usage, ...more });
}
const asked = (envelope: AgentEnvelope): AgentEnvelope => ({
  ...envelope,
  ...(envelope.open_questions && {
    open_questions: envelope.open_questions.map((question) => ({
      ...{ type: 'blocking' as const, context: '', options: [], allowFreeText: true, tags: [] },
      ...question,
    })),
  }),
});
const answer = (index: number) =>
  mill.must({
    ...{ type: 'question.answer', projectId, taskId: null, questionId: questions()[index]!.id, subjectId: feedbackId },
    ...{ text: 'The sum', by, source: 'user' },
  });

describe('feedback', () => {
  it('is numbered, given once, and never empty', () => {
    expect(item()).toMatchObject({ number: 1, status: 'open', jobId: null, by });
    expect(mill.refusal({ type: 'feedback.give', projectId, feedbackId, text: 'x', by })).toBe('conflict');
    expect(mill.refusal({ type: 'feedback.give', projectId, feedbackId: 'f', text: ' \n ', by })).toBe('bad_input');
    mill.must({ type: 'feedback.give', projectId, feedbackId: 'feedback_2', text: 'y', by });
    expect(mill.records.get('feedback_2')).toMatchObject({ number: 2 });
  });

  it('is analysed by one job at a time, which is handed over with a deadline', () => {
    analyse();
    const first = item().jobId;
    expect(analyse()).toEqual([]);
    expect(item().jobId).toBe(first);
    expect(job()).toMatchObject({
      mode: 'analyse',
      input: 'It is wrong\nagain',
      handOff: { from: 'person', to: 'analyst', artifacts: [{ kind: 'subject', ref: feedbackId }] },
    });
  });

  it('becomes a bug of the pipeline bug, quoting the person; a repetition changes nothing', () => {
    const linked = mill.add();
    analyse();
    finish({ outcome: 'analysed', analysis: bug });
    expect(item()).toMatchObject({ status: 'open', analysis: { kind: 'bug' } });
    file(mill.task(linked).number);
    const task = mill.task('task_f');
    expect(task).toMatchObject({ kind: 'bug', pipeline: 'bug', origin: { kind: 'feedback', id: feedbackId } });
    expect(task.body).toContain('It is about #1.');
    expect(task.body).toContain('> It is wrong\n> again');
    expect(item()).toMatchObject({ status: 'filed', taskNumber: task.number, linkedTask: 1 });
    expect(file()).toEqual([]);
  });

  it('that is a question is answered without a task', () => {
    analyse();
    finish({ outcome: 'analysed', analysis: { ...bug, kind: 'question', answer: 'Because.' } });
    file();
    expect(item()).toMatchObject({ status: 'filed', taskNumber: null });
    expect(mill.tasks.size).toBe(0);
  });

  it('leads to one question; a second one is refused and the analyst is tried again', () => {
    analyse();
    finish(asks);
    expect(item()).toMatchObject({ status: 'asking', rounds: 1 });
    expect(
      mill.refusal({ type: 'feedback.file', projectId, feedbackId, taskId: 't', linkedTask: null, linkedSpec: null }),
    ).toBe('wrong_stage');
    answer(0);
    expect(item().status).toBe('open');
    finish({ ...asks, open_questions: [{ text: 'Are you sure?' }] });
    expect(questions()).toHaveLength(1);
    expect(job()).toMatchObject({ status: 'open', failures: { invalid_result: 1 } });
    expect(job().summary).toContain('best judgement');
    finish({ outcome: 'analysed', analysis: bug });
    file();
    expect(item()).toMatchObject({ status: 'filed', rounds: 1 });
  });

  it('that cannot be analysed fails, and can be analysed again', () => {
    analyse();
    for (let tries = 0; tries < 3; tries += 1)
      finish({ outcome: 'failed' }, { failure: 'invalid_result', message: 'prose' });
    expect(item()).toMatchObject({ status: 'failed', why: 'prose' });
    analyse();
    finish({ outcome: 'analysed', analysis: bug });
    expect(item().analysis?.title).toBe('Mend it');
  });

  it('that is dismissed needs no answer and no analysis', () => {
    analyse();
    finish(asks);
    mill.must({ type: 'feedback.dismiss', projectId, feedbackId, by, why: 'a joke' });
    expect(item()).toMatchObject({ status: 'dismissed', why: 'a joke' });
    expect(questions()).toMatchObject([{ status: 'withdrawn' }]);
    expect(mill.refusal({ type: 'feedback.analyse', projectId, feedbackId, by })).toBe('conflict');
  });
});
