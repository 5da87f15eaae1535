import { ENGINE } from '@tidemill/contract';
import type { SubjectPart } from '../subject/part.ts';
import { critiqued, drafted, judged } from './ended.ts';
import { draftingMode, jobFor } from './find.ts';

export const specPart: SubjectPart<'spec'> = {
  jobEnded: (slice, spec, job, end, env) => {
    if (job.mode === 'critique') return critiqued(spec, job, end);
    const isDrafting = spec.status === 'drafting';
    if ('envelope' in end) {
      const { envelope, status } = end;
      if (status === 'asked') return isDrafting ? [{ type: 'spec.asked', subjectId: spec.id }] : [];
      if (job.mode === 'judge') return judged(spec, envelope.judgement);
      const hasCritic = slice.projects.get(spec.projectId)?.rules.specs?.critic ?? true;
      return drafted(spec, job, envelope.spec, { hasCritic, env });
    }
    // Anyone who cancels a job has already said what becomes of the specification.
    if (end.status === 'cancelled' || !(isDrafting || spec.status === 'checking')) return [];
    return [{ type: 'spec.failed', subjectId: spec.id, why: end.why }];
  },
  refusesQuestions: ({ criticJobId }) => (criticJobId === null ? null : 'a critic asks nobody: say it as a finding'),
  resumed: (_slice, spec, env) => {
    if (spec.status !== 'asking' && spec.status !== 'draft') return [];
    return [
      { type: 'spec.settled', subjectId: spec.id, isDrafting: true },
      jobFor(spec, draftingMode(spec), ENGINE, env),
    ];
  },
};
