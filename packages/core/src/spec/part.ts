import { ENGINE } from '@tidemill/contract';
import type { SubjectPart } from '../subject/part.ts';
import { drafted, judged } from './ended.ts';
import { draftingMode, jobFor } from './find.ts';

export const specPart: SubjectPart<'spec'> = {
  jobEnded: (_slice, spec, job, end) => {
    const isDrafting = spec.status === 'drafting';
    if ('envelope' in end) {
      const { envelope, status } = end;
      if (status === 'asked') return isDrafting ? [{ type: 'spec.asked', subjectId: spec.id }] : [];
      return job.mode === 'judge' ? judged(spec, envelope.judgement) : drafted(spec, job, envelope.spec);
    }
    // Whoever cancels a job has already said what becomes of the specification.
    if (end.status === 'cancelled' || !(isDrafting || spec.status === 'checking')) return [];
    return [{ type: 'spec.failed', subjectId: spec.id, why: end.why }];
  },
  resumed: (_slice, spec, env) => {
    if (spec.status !== 'asking' && spec.status !== 'draft') return [];
    return [
      { type: 'spec.settled', subjectId: spec.id, isDrafting: true },
      jobFor(spec, draftingMode(spec), ENGINE, env),
    ];
  },
};
