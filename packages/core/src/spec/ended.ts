import {
  ENGINE,
  type EventBody,
  type Job,
  type RequirementVerdict,
  type Spec,
  type SpecDraft,
  type SpecJudgement,
} from '@tidemill/contract';
import type { DecideEnv } from '../command.ts';
import { specFaults } from '../spec-document/validate.ts';
import type { JobEnd } from '../subject/part.ts';
import { jobFor } from './find.ts';

/** After this many rounds of questions the draft goes to a person with what is still unclear. */
const MOST_ROUNDS = 3;

/** Whether something must be clear before the tasks can be trusted. */
export const asksFirst = ({ ambiguities, architectures }: SpecDraft): boolean =>
  ambiguities.length + architectures.length > 0;

/** An agent wrote a draft. */
export function drafted(
  spec: Spec,
  job: Job,
  draft: SpecDraft | undefined,
  { hasCritic, env }: { hasCritic: boolean; env: DecideEnv },
): EventBody[] {
  if (spec.status !== 'drafting') return [];
  const faults = draft ? specFaults(draft) : ['the agent returned no specification'];
  if (!draft || faults.length > 0)
    return [{ type: 'spec.failed', subjectId: spec.id, why: `the draft cannot be used: ${faults.join('; ')}` }];
  const status = asksFirst(draft) && spec.rounds < MOST_ROUNDS ? 'asking' : 'draft';
  const by = { kind: 'agent' as const, id: job.id, name: job.mode === 'initialize' ? 'initializer' : 'specifier' };
  const version = spec.version + 1;
  const events: EventBody[] = [{ type: 'spec.drafted', subjectId: spec.id, version, draft, status, by }];
  if (status !== 'draft' || !hasCritic) return events;
  const critic = jobFor(spec, 'critique', ENGINE, env);
  return [...events, { type: 'spec.critique_requested', subjectId: spec.id, version, jobId: critic.jobId }, critic];
}

/** A critic has read the version, or could not. What it says about an earlier one no longer matters. */
export function critiqued(spec: Spec, job: Job, end: JobEnd): EventBody[] {
  if (spec.criticJobId !== job.id) return [];
  const critique = end.status === 'done' ? end.envelope.critique : undefined;
  const why = 'why' in end ? end.why : critique ? '' : 'its result had no findings';
  const { id: subjectId, version } = spec;
  return [{ type: 'spec.critiqued', subjectId, version, findings: critique?.findings ?? [], why }];
}

/** A judge looked at the landed code. What it does not mention is not met. */
export function judged(spec: Spec, judgement: SpecJudgement | undefined): EventBody[] {
  if (spec.status !== 'checking') return [];
  const requirements = [...new Set(spec.tasks.flatMap((task) => task.requirements))];
  const verdicts = requirements.map((id): RequirementVerdict => {
    if (spec.unbuilt.includes(id)) return { requirement: id, met: false, evidence: 'None of its tasks has landed.' };
    const verdict = judgement?.requirements.find(({ requirement }) => requirement === id);
    if (!verdict) return { requirement: id, met: false, evidence: 'The judge did not mention it.' };
    const isUnfounded = verdict.met && verdict.evidence === '';
    return isUnfounded ? { ...verdict, met: false, evidence: 'The judge named no evidence.' } : verdict;
  });
  const isDone = verdicts.every(({ met }) => met);
  return [{ type: 'spec.judged', subjectId: spec.id, verdicts, isDone }];
}
