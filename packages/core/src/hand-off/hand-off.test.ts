import { type AgentEnvelope, type Job, MAX_HAND_OFF_TOKENS, personActor } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Mill } from '../../../../test/support/mill.ts';
import { distil, distilledText, tokensOf } from './distil.ts';
import { isTimedOut } from './job.ts';

const DAY = 24 * 3_600_000;
const projectId = 'project_1';

const bodyOf = (mill: Mill, wanted: string) => mill.log.map(({ body }) => body).findLast(({ type }) => type === wanted);

describe('the result of a role', () => {
  it('is distilled to at most 2K tokens, whatever it says and in any script', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 9_000 }),
      fc.string({ unit: 'grapheme', maxLength: 5_000 }),
      fc.integer({ min: 1, max: 20_000 }).map((length) => '語'.repeat(length)),
    );
    const lists = fc.array(text, { maxLength: 50 });
    fc.assert(
      fc.property(text, lists, lists, lists, (summary, decisions, unresolved, files) => {
        const envelope: AgentEnvelope = { outcome: 'pr_ready', summary, decisions, unresolved };
        const distilled = distil(envelope, false, files);
        expect(tokensOf(distilledText(distilled))).toBeLessThanOrEqual(MAX_HAND_OFF_TOKENS);
        expect(distilled.files.length).toBeLessThanOrEqual(5);
        expect(distilledText(distilled)).toBe(distilledText(distilled).toWellFormed());
      }),
      { numRuns: 100 },
    );
  });

  it('keeps decisions, open points and five files; a plan and the output of tools are dropped', () => {
    const envelope: AgentEnvelope = {
      outcome: 'plan_complete',
      summary: 'x'.repeat(50_000),
      planSummary: 'Use a queue',
      plan: 'the whole plan',
      decisions: ['A queue', 'A queue', ' '],
      unresolved: ['No limit yet'],
      declares: { dependencyModifications: ['adds p-queue'] },
    };
    const distilled = distil(envelope, false, ['a', 'b', 'c', 'd', 'e', 'f', 'a']);
    expect(distilled).toEqual({
      summary: 'Use a queue',
      decisions: ['A queue', 'adds p-queue'],
      unresolved: ['No limit yet'],
      files: ['a', 'b', 'c', 'd', 'e'],
    });
    expect(distilledText(distilled)).not.toContain('the whole plan');
  });

  it('keeps the objections of a reviewer as unresolved', () => {
    const review = { criteria: [], comments: ['Empty lists'] };
    expect(distil({ outcome: 'changes_requested', summary: 's', review }, true, []).unresolved).toEqual([
      'Empty lists',
    ]);
  });
});

describe('a hand-off between the stages of a task', () => {
  it('names which role passes what to which, what must hold, and where it goes back to', () => {
    const mill = new Mill();
    const id = mill.add({ accept: ['it works'] });
    mill.end(id, 'plan_complete', { envelope: { plan: 'do it', planSummary: 'short', decisions: ['no library'] } });
    expect(mill.task(id).handOff).toMatchObject({
      from: 'planner',
      to: 'builder',
      stage: 'implement',
      precondition: ['in_stage', 'plan_written'],
      successCriteria: [expect.stringContaining('it works')],
      nextRole: 'gates',
      rollback: 'implement',
      distilled: { summary: 'short', decisions: ['no library'] },
    });
    expect(mill.task(id).context.at(-1)).toMatchObject({
      entryType: 'plan_summary',
      summary: expect.stringContaining('no library'),
    });
    expect(tokensOf(JSON.stringify(mill.task(id).handOff))).toBeLessThanOrEqual(MAX_HAND_OFF_TOKENS);
    const started = mill.startRun(id);
    expect(bodyOf(mill, 'run.started')).toMatchObject({
      runId: started.runId,
      handOffId: 'handoff_run_1',
    });
  });

  it('is checked by the receiver: after a day, or in another stage, it is not relied on', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.end(id, 'plan_complete', { envelope: { plan: 'do it', summary: 'short' } });
    mill.now += 2 * DAY;
    mill.startRun(id);
    expect(bodyOf(mill, 'task.hand_off_refused')).toMatchObject({
      handOffId: 'handoff_run_1',
      why: 'it was handed over too long ago',
    });
    expect(mill.task(id).handOff).toBeNull();
    // A builder that says nothing hands nothing off: the reviewer finds what was for the builder.
    const later = new Mill();
    const other = later.add();
    later.end(other, 'plan_complete', { envelope: { plan: 'do it', summary: 'short' } });
    later.end(other, 'pr_ready', { envelope: { summary: '' } });
    later.end(other, 'approved', { tree: 'T1' });
    expect(later.task(other)).toMatchObject({ stage: 'review', handOff: { id: 'handoff_run_1', to: 'builder' } });
    later.startRun(other);
    expect(bodyOf(later, 'task.hand_off_refused')).toMatchObject({
      handOffId: 'handoff_run_1',
      why: 'it is for the stage implement',
    });
    expect(later.task(other).handOff).toBeNull();
  });

  it('passes through gates to the next agent', () => {
    const mill = new Mill();
    const id = mill.add();
    mill.end(id, 'plan_complete', { envelope: { plan: 'do it' } });
    mill.end(id, 'pr_ready', { envelope: { summary: 'built' } });
    expect(mill.task(id)).toMatchObject({ stage: 'verify', handOff: { from: 'builder', to: 'gates' } });
    mill.end(id, 'approved', { tree: 'T1' });
    expect(mill.task(id).stage).toBe('review');
    mill.startRun(id);
    expect(bodyOf(mill, 'run.started')).toMatchObject({ mode: 'review', handOffId: 'handoff_run_2' });
    expect(bodyOf(mill, 'task.hand_off_refused')).toBeUndefined();
  });

  it('stays within the limit as a whole when the result is long', () => {
    const mill = new Mill();
    const id = mill.add({ accept: Array.from({ length: 40 }, (_, index) => `criterion ${index} ${'y'.repeat(400)}`) });
    const long = Array.from({ length: 40 }, (_, index) => `${index} ${'z'.repeat(2_000)}`);
    mill.end(id, 'plan_complete', {
      envelope: { plan: 'p', summary: 'x'.repeat(90_000), decisions: long, unresolved: long },
    });
    expect(tokensOf(JSON.stringify(mill.task(id).handOff))).toBeLessThanOrEqual(MAX_HAND_OFF_TOKENS);
  });
});

describe('a hand-off of a job', () => {
  it('that nobody took within a week is not handed out any more', () => {
    const mill = new Mill();
    const about = { projectId, subjectId: projectId, jobId: 'job_1' };
    mill.must({ type: 'job.request', ...about, mode: 'trial', input: 'x', by: personActor('ada') });
    const job = () => mill.records.get('job_1') as Job;
    expect(job().handOff).toMatchObject({ id: 'handoff_job_1', to: 'builder', precondition: ['subject_exists'] });
    expect(isTimedOut(job(), mill.now)).toBe(false);
    mill.now += 8 * DAY;
    expect(isTimedOut(job(), mill.now)).toBe(true);
    expect(mill.refusal({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'd' })).toBe('nothing_ready');
  });
});
