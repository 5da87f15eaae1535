import { type Job, type Outcome, personActor } from '@tidemill/contract';
import { beforeEach, describe, expect, it } from 'vitest';
import { defaultRules, Mill } from '../../../../test/support/mill.ts';
import type { CommandOf } from '../command.ts';

const projectId = 'project_1';
const jobId = 'job_1';
const about = { projectId, subjectId: projectId, jobId };
const usage = { inputTokens: 10, outputTokens: 5, costUsd: 0.25, requests: 1 };

let mill: Mill;
beforeEach(() => {
  mill = new Mill();
});

const job = () => mill.records.get(jobId) as Job;
const fence = () => ({ ...about, token: job().lease!.token });
const request = () => mill.must({ type: 'job.request', ...about, mode: 'trial', input: 'x', by: personActor('ada') });
const claim = (workerId = 'agent-1') => mill.must({ type: 'job.claim', projectId, workerId, owner: 'daemon-1' });
function start(): string {
  claim();
  const runId = `run_${mill.runs.size + 1}`;
  mill.must({ type: 'run.start', ...fence(), runId, mode: 'trial', agent: 'scripted' });
  return runId;
}
function finish(outcome: Outcome, more: Partial<CommandOf<'run.finish'>> = {}): void {
  const runId = start();
  const envelope = { outcome, summary: `said ${outcome}` };
  mill.must({ type: 'run.finish', ...fence(), runId, outcome, envelope, usage, ...more });
}
const spent = () => {
  const account = mill.records.get(`account/${projectId}`);
  return account?.noun === 'account' ? account.spentDayUsd : 0;
};

describe('a job', () => {
  it('is leased, run, paid for and done', () => {
    request();
    expect(job()).toMatchObject({ status: 'open', lease: null, attempts: 0 });
    finish('pr_ready');
    expect(job()).toMatchObject({ status: 'done', lease: null, attempts: 1, summary: 'said pr_ready' });
    expect(mill.runs.get('run_1')).toMatchObject({ subjectId: projectId, jobId, mode: 'trial', status: 'finished' });
    expect(spent()).toBe(0.25);
    expect(mill.refusal({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'd' })).toBe('nothing_ready');
  });

  it('is tried again after a crash of its agent, later each time, and then fails', () => {
    request();
    finish('failed', { failure: 'crash', message: 'exit 3' });
    const first = job().notBefore - mill.now;
    expect(job()).toMatchObject({ status: 'open', lease: null, failures: { crash: 1 } });
    expect(mill.refusal({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'd' })).toBe('nothing_ready');
    mill.now += first;
    finish('failed', { failure: 'crash', message: 'exit 3' });
    expect(job().notBefore - mill.now).toBeGreaterThan(first);
    mill.now = job().notBefore;
    finish('failed', { failure: 'crash', message: 'exit 3' });
    expect(job()).toMatchObject({ status: 'failed', summary: 'exit 3', attempts: 3 });
    expect(spent()).toBe(0.75);
  });

  it('fails with the question of an agent that asks instead of finishing', () => {
    request();
    const asked = {
      type: 'blocking',
      text: 'Which one?',
      context: '',
      options: [],
      allowFreeText: true,
      tags: [],
    } as const;
    finish('needs_info', {
      envelope: { outcome: 'needs_info', summary: '', open_questions: [{ ...asked, options: [], tags: [] }] },
    });
    expect(job()).toMatchObject({ status: 'failed', summary: expect.stringContaining('Which one?') });
  });

  it('is open again when its lease expires, and its run is interrupted', () => {
    request();
    const runId = start();
    const old = fence();
    expect(mill.refusal({ type: 'lease.expire', ...old, ownerIsDead: false })).toBe('conflict');
    mill.must({ type: 'lease.expire', ...old, ownerIsDead: true });
    expect(job()).toMatchObject({ status: 'open', lease: null });
    expect(mill.runs.get(runId)).toMatchObject({ status: 'finished', outcome: 'interrupted' });
    expect(mill.refusal({ type: 'run.progress', ...old, runId, percent: 1, text: '' })).toBe('stale_lease');
    finish('pr_ready');
    expect(job()).toMatchObject({ status: 'done', fence: 2, attempts: 2 });
  });

  it('that is cancelled at work is over, and the late costs of its agent are booked', () => {
    request();
    const runId = start();
    const old = fence();
    mill.must({ type: 'job.cancel', ...about, why: 'not needed' });
    expect(job()).toMatchObject({ status: 'cancelled', lease: null });
    expect(mill.refusal({ type: 'job.cancel', ...about, why: 'again' })).toBe('conflict');
    const before = spent();
    mill.must({ type: 'run.spend', ...old, runId, usage: { ...usage, costUsd: 2 } });
    expect(spent()).toBeGreaterThan(before);
  });

  it('keeps its worker from everything else', () => {
    request();
    mill.add();
    claim();
    expect(mill.offered('agent-1')).toBe('worker_busy');
    expect(mill.offered('agent-2')).toBe(1);
    mill.must({ type: 'lease.release', ...fence(), why: 'shutdown' });
    mill.claim('agent-1');
    expect(mill.refusal({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'd' })).toBe('worker_busy');
    expect(mill.refusal({ type: 'job.claim', projectId, workerId: 'reviewer', owner: 'd' })).toBe('nothing_ready');
  });

  it('waits while the budget does not cover it', () => {
    const budget = { ...defaultRules.budget, dailyUsd: 0.4 };
    mill.must({ type: 'project.configure', projectId, rules: { ...mill.rules(), budget } });
    request();
    finish('pr_ready');
    mill.must({ type: 'job.request', ...about, jobId: 'job_2', mode: 'trial', input: 'x', by: personActor('ada') });
    expect(mill.refusal({ type: 'job.claim', projectId, workerId: 'agent-1', owner: 'd' })).toBe('budget_exhausted');
  });

  it('is ended when its agent is silent for too long', () => {
    request();
    start();
    mill.must({ type: 'lease.take', ...about, by: personActor('supervisor'), why: 'silent', isStuck: true });
    expect(job()).toMatchObject({ status: 'failed', lease: null, summary: expect.stringContaining('silent') });
  });

  it('is refused when its id is taken, its subject is wrong, or its run has another mode', () => {
    request();
    const again = { type: 'job.request', ...about, mode: 'trial', input: 'x', by: personActor('ada') } as const;
    expect(mill.refusal(again)).toBe('conflict');
    expect(mill.refusal({ ...again, jobId: 'job_2', subjectId: 'task_1' })).toBe('bad_input');
    claim();
    const run = { type: 'run.start', ...fence(), runId: 'run_1', mode: 'implement', agent: 'x' } as const;
    expect(mill.refusal(run)).toBe('wrong_stage');
  });
});
