import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { counted, event, mill, said } from '../event/define.ts';
import { SpecDraft } from './draft.ts';
import { RequirementVerdict, SpecComment, SpecFinding, SpecSource, SpecTaskLink } from './spec.ts';

const ofSpec = { subjectId: z.string() };
const stale = ['specs', 'spec', 'inbox'];

export const specEvents = [
  event(
    'spec.requested',
    { ...ofSpec, number: z.number().int(), title: z.string(), source: SpecSource, by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ number, title, by }) => said(by, `requested the specification S${number}: ${title}`),
    },
  ),
  /** A new version, by an agent or a person. */
  event(
    'spec.drafted',
    {
      ...ofSpec,
      version: z.number().int(),
      draft: SpecDraft,
      /** `asking`: something must be clear before it can be approved. */
      status: z.enum(['asking', 'draft']),
      by: Actor,
    },
    {
      stale,
      shown: 'terminal',
      says: ({ version, draft, by }) =>
        said(by, `wrote version ${version} of "${draft.title}", ${counted(draft.tasks.length, 'task')}`),
    },
  ),
  /** A critic reads the version before a person does. */
  event(
    'spec.critique_requested',
    { ...ofSpec, version: z.number().int(), jobId: z.string() },
    { stale, says: ({ version }) => mill(`a critic reads version ${version}`) },
  ),
  event(
    'spec.critiqued',
    { ...ofSpec, version: z.number().int(), findings: z.array(SpecFinding), why: z.string() },
    {
      stale,
      shown: 'terminal',
      says: ({ version, findings, why }) =>
        mill(
          why
            ? `no critic has read version ${version}: ${why}`
            : `the critic has ${findings.length === 0 ? 'no findings' : counted(findings.length, 'finding')} about version ${version}`,
        ),
    },
  ),
  /** Its agent asked questions instead of finishing. */
  event('spec.asked', ofSpec, { stale, says: () => mill('the specification waits for answers') }),
  /** Its questions are answered, or there is nothing to ask. `isDrafting`: an agent writes it again. */
  event(
    'spec.settled',
    { ...ofSpec, isDrafting: z.boolean() },
    {
      stale,
      says: ({ isDrafting }) =>
        mill(isDrafting ? 'the specification is written again with the answers' : 'the specification can be approved'),
    },
  ),
  event(
    'spec.revision_requested',
    { ...ofSpec, version: z.number().int(), comments: z.array(SpecComment), by: Actor },
    { stale, says: ({ comments, by }) => said(by, `requested changes: ${counted(comments.length, 'comment')}`) },
  ),
  event(
    'spec.approved',
    {
      ...ofSpec,
      version: z.number().int(),
      tasks: z.array(SpecTaskLink),
      overridden: z.array(z.string()),
      by: Actor,
    },
    {
      stale,
      shown: 'terminal',
      says: ({ version, tasks, by }) => said(by, `approved version ${version}: ${counted(tasks.length, 'task')}`),
    },
  ),
  event(
    'spec.rejected',
    { ...ofSpec, why: z.string(), by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ why, by }) => said(by, `rejected the specification${why ? `: ${why}` : ''}`),
    },
  ),
  event('spec.building', ofSpec, { stale, says: () => mill('the building of the specification has begun') }),
  event(
    'spec.aborted',
    { ...ofSpec, why: z.string(), held: z.array(z.string()), by: Actor },
    { stale, shown: 'terminal', says: ({ why, by }) => said(by, `stopped the specification: ${why}`) },
  ),
  event(
    'spec.resumed',
    { ...ofSpec, status: z.enum(['drafting', 'building']), by: Actor },
    { stale, shown: 'terminal', says: ({ by }) => said(by, 'continued the specification') },
  ),
  event(
    'spec.checking',
    { ...ofSpec, unbuilt: z.array(z.string()) },
    { stale, says: () => mill('all tasks have landed; each requirement is checked') },
  ),
  event(
    'spec.judged',
    { ...ofSpec, verdicts: z.array(RequirementVerdict), isDone: z.boolean() },
    {
      stale,
      shown: 'terminal',
      says: ({ verdicts, isDone }) =>
        isDone
          ? mill('every requirement is met: the specification is done')
          : mill(`${counted(verdicts.filter(({ met }) => !met).length, 'requirement')} not met`),
    },
  ),
  /** A person accepts that some requirements are not met. */
  event(
    'spec.accepted',
    { ...ofSpec, by: Actor },
    { stale, shown: 'terminal', says: ({ by }) => said(by, 'accepted the specification as it is') },
  ),
  event(
    'spec.extended',
    { ...ofSpec, tasks: z.array(SpecTaskLink), by: Actor },
    {
      stale,
      says: ({ tasks, by }) => said(by, `added ${counted(tasks.length, 'task')} for requirements that are not met`),
    },
  ),
  event(
    'spec.failed',
    { ...ofSpec, why: z.string() },
    { stale, shown: 'terminal', says: ({ why }) => mill(`the specification failed: ${why}`) },
  ),
] as const;
