import {
  AppError,
  type Project,
  type Spec,
  type SpecComment,
  type SpecDetail,
  type SpecSummary,
  specVersionId,
} from '@tidemill/contract';
import { buildState, type Command, specDocument } from '@tidemill/core';
import { approveSpec, rejectSpec, resumeSpec, stopSpec } from '../../engine/flows/spec.ts';
import type { Services } from '../context.ts';
import { numbered, projectOf, unwrap } from '../find.ts';
import type { Signed } from '../handler.ts';
import { sourceOf } from './source.ts';
import { detailOf, summaryOf } from './view.ts';

/** The longest title that is made of a text. */
const TITLE = 120;

export async function request(services: Services, input: Signed<'newSpec'>): Promise<SpecSummary> {
  const project = await projectOf(services, input.project);
  const source = await sourceOf(services, project, input);
  const specId = services.ids.next('spec');
  const [line = ''] = source.text.trim().split('\n');
  const title = line.replace(/^#+\s*/, '').slice(0, TITLE) || 'A new repository';
  await execute(services, { type: 'spec.request', projectId: project.id, specId, title, source, by: input.by });
  return changed(services, project, specId);
}

export async function importDraft(services: Services, input: Signed<'importSpec'>): Promise<SpecSummary> {
  const project = await projectOf(services, input.project);
  const specId = services.ids.next('spec');
  const { draft, by } = input;
  const source = { kind: 'file' as const, ideaId: null, text: draft.summary || draft.title };
  await execute(services, { type: 'spec.import', projectId: project.id, specId, draft, source, by });
  return changed(services, project, specId);
}

export async function edit(services: Services, input: Signed<'editSpec'>): Promise<SpecSummary> {
  const { project, spec } = await found(services, input);
  const { version, draft, by } = input;
  await execute(services, { type: 'spec.edit', projectId: project.id, specId: spec.id, version, draft, by });
  return changed(services, project, spec.id);
}

export async function approve(services: Services, input: Signed<'approveSpec'>): Promise<SpecDetail> {
  const { project, spec } = await found(services, input);
  const { override, by, version = spec.version } = input;
  const tools = { ...services, knowledge: services.repositories.knowledgeOf(project) };
  // Refusals do not depend on whether that version exists.
  if (version === spec.version && version > 0) await approveSpec(tools, spec, { version, override, by });
  else {
    const about = { projectId: project.id, specId: spec.id, version, tasks: [], override, by };
    await execute(services, { type: 'spec.approve', ...about });
  }
  return detailOf(services, project, (await services.store.record('spec', spec.id))!);
}

export async function revise(services: Services, input: Signed<'reviseSpec'>): Promise<SpecSummary> {
  const { project, spec } = await found(services, input);
  const { by, version = spec.version } = input;
  const comments = await quoted(services, spec, version, input.comments);
  await execute(services, { type: 'spec.revise', projectId: project.id, specId: spec.id, version, comments, by });
  return changed(services, project, spec.id);
}

/** Each comment with the line it is about. */
async function quoted(
  { store }: Services,
  { id }: Spec,
  version: number,
  comments: { line: number; text: string }[],
): Promise<Pick<SpecComment, 'line' | 'quote' | 'text'>[]> {
  const row = await store.record('spec_version', specVersionId(id, version));
  const lines = row ? specDocument(row.draft).split('\n') : [];
  const beyond = comments.find(({ line }) => line > lines.length);
  if (beyond)
    throw new AppError('bad_input', `the document has ${lines.length} lines, so there is no line ${beyond.line}`, {
      hint: 'Line 0 is about all of it.',
    });
  return comments.map(({ line, text }) => ({ line, quote: (lines[line - 1] ?? '').trim().slice(0, 300), text }));
}

export async function reject(services: Services, input: Signed<'rejectSpec'>): Promise<SpecSummary> {
  const { project, spec } = await found(services, input);
  await rejectSpec(services.store, spec, input);
  return changed(services, project, spec.id);
}

export async function stop(services: Services, input: Signed<'stopSpec'>): Promise<SpecSummary> {
  const { project, spec } = await found(services, input);
  const { by } = input;
  const ids = spec.tasks.map(({ taskId }) => taskId);
  const rows = ids.length === 0 ? [] : await services.store.tasks({ projectId: project.id, ids });
  const { unstarted } = buildState(spec, new Map(rows.map((task) => [task.id, task])));
  const why = `stopped by ${by.name}${input.why ? `: ${input.why}` : ''}`;
  await stopSpec(services.store, spec, { why, by, unstarted: unstarted.map(({ id }) => id) });
  return changed(services, project, spec.id);
}

export async function resume(services: Services, input: Signed<'resumeSpec'>): Promise<SpecSummary> {
  const { project, spec } = await found(services, input);
  await resumeSpec(services.store, spec, input.by);
  return changed(services, project, spec.id);
}

async function found(services: Services, input: { project: string; spec: string }) {
  const project = await projectOf(services, input.project);
  return { project, spec: await numbered(services, project, 'spec', input.spec) };
}

const execute = async ({ store }: Services, command: Command) => unwrap(await store.execute(command));

const changed = async ({ store }: Services, project: Project, id: string): Promise<SpecSummary> =>
  summaryOf(store, project, (await store.record('spec', id))!);
