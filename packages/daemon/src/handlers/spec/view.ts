import type {
  Project,
  RequirementView,
  RouteRequest,
  Spec,
  SpecDetail,
  SpecDraft,
  SpecSummary,
  SpecTaskView,
  Task,
} from '@tidemill/contract';
import { AppError } from '@tidemill/contract';
import {
  critiqueOf,
  inBuildOrder,
  newestByGate,
  readinessOf,
  requirementProgress,
  specDiff,
  specDocument,
} from '@tidemill/core';
import { gotchasOf } from '../../engine/flows/spec.ts';
import type { Store } from '../../ports.ts';
import type { Services } from '../context.ts';
import { numbered, projectOf } from '../find.ts';
import { openQuestionsAbout } from '../question/question.ts';
import { versionOf } from './find.ts';

export async function list(services: Services, input: RouteRequest<'specs'>): Promise<SpecSummary[]> {
  const project = await projectOf(services, input.project);
  const specs = await services.store.records({ noun: 'spec', projectId: project.id });
  const newest = specs.sort((a, b) => b.number - a.number);
  return Promise.all(newest.map((spec) => summaryOf(services.store, project, spec)));
}

export async function summaryOf(store: Store, project: Project, spec: Spec): Promise<SpecSummary> {
  const { id, number, title, status, why, version, createdAt, endedAt, source } = spec;
  const tasks = await tasksOf(store, project, spec);
  const counted = [...tasks.values()].filter(({ stage }) => stage !== 'cancelled');
  const open = await store.records({ noun: 'question', parent: id, isOpen: true });
  return {
    ...{ id, number, title, status, why, version, createdAt, endedAt },
    source: source.kind,
    tasks: counted.length,
    done: counted.filter(({ stage }) => stage === 'done').length,
    questions: open.filter(({ holds }) => holds).length,
  };
}

async function tasksOf(store: Store, { id: projectId }: Project, { tasks }: Spec): Promise<Map<string, Task>> {
  if (tasks.length === 0) return new Map();
  const rows = await store.tasks({ projectId, ids: tasks.map(({ taskId }) => taskId) });
  return new Map(rows.map((task) => [task.id, task]));
}

export async function show(services: Services, input: RouteRequest<'spec'>): Promise<SpecDetail> {
  const project = await projectOf(services, input.project);
  const spec = await numbered(services, project, 'spec', input.spec);
  return detailOf(services, project, spec, input.version);
}

export async function detailOf(
  services: Services,
  project: Project,
  spec: Spec,
  wanted = spec.version,
): Promise<SpecDetail> {
  const { store, repositories } = services;
  const shown = wanted === 0 ? null : await versionOf(services, spec, wanted);
  const versions = await store.records({ noun: 'spec_version', parent: spec.id });
  const asked = await store.records({ noun: 'question', parent: spec.id });
  const questions = asked.filter(({ status }) => status === 'open' || status === 'answered');
  const rows = await tasksOf(store, project, spec);
  const draft = shown?.draft;
  return {
    spec,
    version: shown && { version: shown.version, by: shown.by, at: shown.at, draft: shown.draft },
    versions: versions
      .sort((a, b) => a.version - b.version)
      .map(({ version, by, at, comments }) => ({ version, by, at, comments: comments.length })),
    comments: shown?.comments ?? [],
    critique: shown && critiqueOf(spec, shown.version),
    document: draft ? specDocument(draft) : '',
    requirements: draft ? requirementsOf(spec, draft, rows) : [],
    tasks: draft
      ? await taskViews(store, spec, draft, rows, await gotchasOf(repositories.knowledgeOf(project), draft))
      : [],
    openQuestions: await openQuestionsAbout(services, project, spec.id),
    questions: questions.map(({ ref, text, type, answer }) => ({ ref, text, type, answer: answer?.text ?? null })),
  };
}

function requirementsOf(spec: Spec, draft: SpecDraft, rows: Map<string, Task>): RequirementView[] {
  const stages = new Map([...rows].map(([id, { stage }]) => [id, stage]));
  return requirementProgress(draft, spec, stages).map(({ tasks, verdict, ...rest }) => ({
    ...rest,
    tasks: tasks.map(({ key }) => key),
    met: verdict?.met ?? null,
    evidence: verdict?.evidence ?? '',
  }));
}

async function taskViews(
  store: Store,
  spec: Spec,
  draft: SpecDraft,
  rows: Map<string, Task>,
  gotchas: Awaited<ReturnType<typeof gotchasOf>>,
): Promise<SpecTaskView[]> {
  const links = new Map(spec.tasks.map(({ key, taskId }) => [key, taskId]));
  const findings = critiqueOf(spec, spec.version)?.findings;
  const views = inBuildOrder(draft.tasks).map(async (task): Promise<SpecTaskView> => {
    const row = rows.get(links.get(task.id) ?? '');
    return {
      ...task,
      readiness: readinessOf(task, findings),
      gotchas: gotchas.get(task.id) ?? [],
      ...(await became(store, row)),
    };
  });
  const documented = new Set(draft.tasks.map(({ id }) => id));
  const later = spec.tasks.filter(({ key }) => !documented.has(key));
  const added = later.map(async ({ key, taskId, phase, requirements }): Promise<SpecTaskView> => {
    const row = rows.get(taskId);
    const kind = row?.kind ?? 'feature';
    const task = { id: key, title: row?.title ?? key, kind, phase, action: 'update' as const, detail: row?.body ?? '' };
    const empty = { files: row?.files ?? [], dependsOn: [], validate: '', template: '', estimateMinutes: null };
    const whole = { ...task, ...empty, requirements, accept: row?.criteria.map(({ text }) => text) ?? [] };
    return {
      ...whole,
      readiness: { score: 100, missing: [], isReady: true },
      gotchas: [],
      ...(await became(store, row)),
    };
  });
  return Promise.all([...views, ...added]);
}

/** What became of a task: its stage, and what its gates and its reviewer found. */
async function became(store: Store, row: Task | undefined) {
  if (!row) return { number: null, stage: null, landedCommit: null, gates: [], met: 0 };
  const { number, stage, landedCommit, projectId, id: taskId } = row;
  const evidence = landedCommit === null ? [] : await store.evidence({ projectId, taskId });
  const passed = [...newestByGate(evidence).values()].filter(({ status }) => status === 'pass');
  const met = row.criteria.filter((each) => each.met).length;
  return { number, stage, landedCommit, gates: passed.map(({ gate }) => gate), met };
}

export async function diff(services: Services, input: RouteRequest<'specDiff'>) {
  const project = await projectOf(services, input.project);
  const spec = await numbered(services, project, 'spec', input.spec);
  const to = input.to ?? spec.version;
  const from = input.from ?? to - 1;
  if (from < 1)
    throw new AppError('bad_input', `S${spec.number} has one version only: there is nothing to compare`, {
      hint: 'Request changes, or edit it.',
    });
  const [before, after] = [await versionOf(services, spec, from), await versionOf(services, spec, to)];
  return { from, to, diff: specDiff(before.draft, after.draft) };
}
