import { type HandOff, type HandOffRole, type Job, type JobMode, MODES } from '@tidemill/contract';
import { ROLE_OF } from './role.ts';

/** A job may wait for a budget or a pause over a weekend. */
const DEADLINE_MS = 7 * 24 * 3_600_000;

/** Who gets a job's result, and what happens to its subject when the job fails. */
const AFTER_JOB: Record<JobMode, { nextRole: HandOffRole; rollback: string }> = {
  trial: { nextRole: 'person', rollback: 'nothing is kept' },
  ideate: { nextRole: 'person', rollback: 'the conversation stays as it was' },
  specify: { nextRole: 'person', rollback: 'the last version stays' },
  initialize: { nextRole: 'person', rollback: 'the repository stays as it is' },
  critique: { nextRole: 'person', rollback: 'a person reads the draft without findings' },
  judge: { nextRole: 'engine', rollback: 'the specification is not done' },
  analyse: { nextRole: 'engine', rollback: 'the feedback is marked as failed; no task exists' },
  propose: { nextRole: 'engine', rollback: 'the category rests' },
  reflect: { nextRole: 'engine', rollback: 'nothing is learned' },
  prevent: { nextRole: 'engine', rollback: 'nothing is learned' },
  replay: { nextRole: 'engine', rollback: 'the run does not count' },
};

/** What a noun passes to the agent of a job. The job's id makes it safe to repeat. */
export function jobHandOff(
  about: { jobId: string; subjectId: string; mode: JobMode; by: { kind: string } },
  now: number,
): HandOff {
  const { jobId, subjectId, mode, by } = about;
  const { outcomes, fields } = MODES[mode];
  return {
    id: `handoff_${jobId}`,
    from: by.kind === 'engine' || by.kind === 'agent' ? 'engine' : 'person',
    to: ROLE_OF[mode],
    stage: mode,
    precondition: ['subject_exists'],
    artifacts: [{ kind: 'subject', ref: subjectId }],
    successCriteria: [`the outcome ${outcomes.join(' or ')}`, ...fields.map((field) => `a valid ${field}`)],
    ...AFTER_JOB[mode],
    deadline: now + DEADLINE_MS,
    distilled: null,
  };
}

/** Nobody took it in time. A job that is being worked on has its own limit. */
export const isTimedOut = ({ handOff, lease, attempts }: Job, now: number): boolean =>
  handOff !== null && lease === null && attempts === 0 && now > handOff.deadline;
