import { type Spec, type SpecVersion, specVersionId } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const specEvents = {
  'spec.requested': (slice, { subjectId: id, number, title, source, by }, { projectId, at }) =>
    slice.records.put({
      noun: 'spec',
      ...{ id, projectId, number, title, source, by },
      status: 'drafting',
      why: '',
      version: 0,
      criticJobId: null,
      critique: null,
      rounds: 0,
      tasks: [],
      approved: null,
      buildingSince: null,
      stoppedBy: null,
      held: [],
      unbuilt: [],
      verdicts: [],
      createdAt: at,
      endedAt: null,
    }),
  'spec.drafted': (slice, { subjectId: specId, version, draft, status, by }, { projectId, at }) => {
    const row: SpecVersion = {
      noun: 'spec_version',
      id: specVersionId(specId, version),
      ...{ projectId, specId, version, draft, by, at },
      comments: [],
    };
    slice.records.put(row);
    changeSpec(slice, specId, () => ({ version, title: draft.title, status, why: '', criticJobId: null }));
  },
  'spec.critique_requested': (slice, { subjectId, jobId }) =>
    changeSpec(slice, subjectId, () => ({ criticJobId: jobId })),
  'spec.critiqued': (slice, { subjectId, version, findings, why }) =>
    changeSpec(slice, subjectId, () => ({ criticJobId: null, critique: { version, findings, why } })),
  'spec.asked': (slice, { subjectId }) => changeSpec(slice, subjectId, () => ({ status: 'asking', why: '' })),
  'spec.settled': (slice, { subjectId, isDrafting }) =>
    changeSpec(slice, subjectId, ({ rounds }) =>
      isDrafting ? { status: 'drafting', rounds: rounds + 1 } : { status: 'draft' },
    ),
  'spec.revision_requested': (slice, { subjectId, version, comments }) => {
    const row = version > 0 ? slice.record('spec_version', specVersionId(subjectId, version)) : undefined;
    if (row) slice.records.put({ ...row, comments: [...row.comments, ...comments] });
    changeSpec(slice, subjectId, () => ({ status: 'drafting', why: '', rounds: 0, criticJobId: null }));
  },
  'spec.approved': (slice, { subjectId, version, tasks, overridden, by }, { at }) =>
    changeSpec(slice, subjectId, () => ({
      status: 'approved',
      why: '',
      criticJobId: null,
      tasks,
      approved: { version, by, at, overridden },
    })),
  'spec.rejected': (slice, { subjectId, why }, { at }) =>
    changeSpec(slice, subjectId, () => ({ status: 'rejected', why, endedAt: at })),
  'spec.building': (slice, { subjectId }, { at }) =>
    changeSpec(slice, subjectId, () => ({ status: 'building', why: '', buildingSince: at })),
  'spec.aborted': (slice, { subjectId, why, held, by }) =>
    changeSpec(slice, subjectId, () => ({ status: 'aborted', why, held, stoppedBy: by, buildingSince: null })),
  'spec.resumed': (slice, { subjectId, status }, { at }) =>
    changeSpec(slice, subjectId, () => ({
      status,
      why: '',
      held: [],
      stoppedBy: null,
      buildingSince: status === 'building' ? at : null,
    })),
  'spec.checking': (slice, { subjectId, unbuilt }) =>
    changeSpec(slice, subjectId, () => ({ status: 'checking', why: '', unbuilt, verdicts: [] })),
  'spec.judged': (slice, { subjectId, verdicts, isDone }, { at }) =>
    changeSpec(slice, subjectId, () => ({
      verdicts,
      ...(isDone ? { status: 'done', endedAt: at } : { why: unmetText(verdicts) }),
    })),
  'spec.accepted': (slice, { subjectId, by }, { at }) =>
    changeSpec(slice, subjectId, () => ({ status: 'done', why: `accepted by ${by.name}`, endedAt: at })),
  'spec.extended': (slice, { subjectId, tasks }, { at }) =>
    changeSpec(slice, subjectId, (spec) => ({
      status: 'building',
      why: '',
      tasks: [...spec.tasks, ...tasks],
      verdicts: [],
      buildingSince: at,
    })),
  'spec.failed': (slice, { subjectId, why }) => changeSpec(slice, subjectId, () => ({ status: 'failed', why })),
} satisfies Reductions;

const unmetText = (verdicts: Spec['verdicts']) =>
  `not met: ${verdicts.flatMap(({ requirement, met }) => (met ? [] : [requirement])).join(', ')}`;

function changeSpec(slice: Slice, id: string, change: (spec: Spec) => Partial<Spec>): void {
  const spec = slice.record('spec', id);
  if (spec) slice.records.put({ ...spec, ...change(spec) });
}
