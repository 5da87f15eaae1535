import type { EventBody, Job, RequirementVerdict, Spec, SpecDraft, SpecJudgement } from '@tidemill/contract';
import { specFaults } from '../spec-document/validate.ts';

/** After this many rounds of questions the draft goes to a person with what is still unclear. */
const MOST_ROUNDS = 3;

/** Whether something must be clear before the tasks can be trusted. */
export const asksFirst = ({ ambiguities, architectures }: SpecDraft): boolean =>
  ambiguities.length + architectures.length > 0;

/** An agent wrote a draft. */
export function drafted(spec: Spec, job: Job, draft: SpecDraft | undefined): EventBody[] {
  if (spec.status !== 'drafting') return [];
  const faults = draft ? specFaults(draft) : ['the agent returned no specification'];
  if (!draft || faults.length > 0)
    return [{ type: 'spec.failed', subjectId: spec.id, why: `the draft cannot be used: ${faults.join('; ')}` }];
  const status = asksFirst(draft) && spec.rounds < MOST_ROUNDS ? 'asking' : 'draft';
  const by = { kind: 'agent' as const, id: job.id, name: job.mode === 'initialize' ? 'initializer' : 'specifier' };
  return [{ type: 'spec.drafted', subjectId: spec.id, version: spec.version + 1, draft, status, by }];
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
