import type { Actor, JobMode, Project, Spec, SpecStatus } from '@tidemill/contract';
import type { DecideEnv, Decision } from '../command.ts';
import { refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { requestedJob } from '../subject/part.ts';

type Found = { ok: true; spec: Spec; project: Project } | Extract<Decision, { ok: false }>;

export function findSpec(slice: Slice, { projectId, specId }: { projectId: string; specId: string }): Found {
  const project = slice.projects.get(projectId);
  const spec = slice.record('spec', specId);
  if (!project || spec?.projectId !== projectId) return refuse('not_found', `there is no specification ${specId}`);
  return { ok: true, spec, project };
}

export const nameOfSpec = ({ number }: Pick<Spec, 'number'>) => `S${number}`;

/** What a person can do with it now. */
const NEXT: Record<SpecStatus, string> = {
  drafting: 'wait for its agent, or stop it',
  asking: 'answer its questions first: `tidemill questions`',
  draft: 'approve it, request changes, or reject it',
  approved: 'its tasks exist; stop it to hold back those that have not begun',
  building: 'its tasks exist; stop it to hold back those that have not begun',
  checking: 'wait until its requirements are checked',
  done: 'request another one',
  rejected: 'request another one',
  aborted: 'continue it with `tidemill spec resume`',
  failed: 'request changes, or continue it with `tidemill spec resume`',
};

export const wrongStatus = (spec: Spec, what: string): Decision & { ok: false } =>
  refuse('wrong_stage', `${nameOfSpec(spec)} is ${spec.status} and cannot be ${what}`, NEXT[spec.status]);

export const draftingMode = ({ source }: Pick<Spec, 'source'>): 'initialize' | 'specify' =>
  source.kind === 'initializer' ? 'initialize' : 'specify';

export const jobFor = (spec: Pick<Spec, 'id' | 'source'>, mode: JobMode, by: Actor, env: DecideEnv) =>
  requestedJob(env, { subjectId: spec.id, mode, input: spec.source.text, by });

/** What a critic said about a version; null when none has read it. */
export const critiqueOf = ({ critique }: Pick<Spec, 'critique'>, version: number): Spec['critique'] =>
  critique?.version === version ? critique : null;
