import {
  type InboxItem,
  isBusyDelivery,
  type Project,
  type ProjectStatus,
  type QuestionView,
  type RouteRequest,
  type SandboxView,
} from '@tidemill/contract';
import { isHeldStart, isReady } from '@tidemill/core';
import { CONFIG_FILE } from '../../config/check.ts';
import type { Workload } from '../../ports.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';
import { openAlerts, showInbox } from '../inbox/inbox.ts';
import { humanStages, needsYou } from '../inbox/needs-you.ts';
import { openQuestions } from '../question/question.ts';
import { workerViews } from '../worker/worker.ts';
import { accountView } from './budget.ts';
import type { StatusLook } from './status-cache.ts';

/** Limit of the list. The counts by stage are complete. */
const SHOWN = 20;
const ALERTS_SHOWN = 5;
/** A job whose retry comes later does not keep a daemon running. */
const SOON_MS = 60_000;

export async function status(services: Services, input: RouteRequest<'status'>): Promise<ProjectStatus> {
  const { store, clock, machine } = services;
  const project = await projectOf(services, input.project);
  const work = services.engines.of(project);
  // Before the rows, too: a landing that is tried again has a lease before it stops counting as pushed.
  const wasBusy = work.isPushing || work.isDelivering;
  // Read first, so that a client that follows the log from here gets every change that is not in this status.
  const lastSeq = await store.lastSeq();
  const made = machine.statusCache.look(project.id, lastSeq, clock.now(), () => look(services, project, lastSeq));
  const seen = await made;
  const { isRunning, isPushing, isDelivering, preparing, warnings, holds } = services.engines.of(project);
  return {
    ...seen,
    idle: seen.idle && !wasBusy && !isPushing && !isDelivering && (await hasCaughtUp(services, project, lastSeq)),
    daemon: machine.daemon,
    running: isRunning,
    holds: (await holds()).texts,
    preparing: preparing.map(({ step, since }) => ({ step, elapsedMs: clock.now() - since })),
    warnings,
  };
}

/** A reactor may make the next work of the newest events. True only if none of them wrote anything since the status was made. */
async function hasCaughtUp({ store, engines }: Services, project: Project, lastSeq: number): Promise<boolean> {
  if (!(await engines.of(project).hasCaughtUp())) return false;
  return (await store.events({ projectId: project.id, after: lastSeq, limit: 1 })).length === 0;
}

/** Called several times a second while a page is open, so rows that are only counted are not loaded. */
async function look(services: Services, project: Project, lastSeq: number): Promise<StatusLook> {
  const { store } = services;
  const workload = await store.workload(project.id);
  const questions = await openQuestions(services, project);
  const alerts = await openAlerts(services, project);
  const { id, name, root, rules } = project;
  return {
    project: { id, name, root, target: rules.target },
    idle: workload.leased === 0 && !(await hasReadyWork(services, project, workload.ready)),
    tasks: workload.byStage,
    total: Object.values(workload.byStage).reduce((sum, count) => sum + count, 0),
    sources: await sourcesOf(services, project),
    environments: await environmentsOf(services, project),
    workers: await workerViews(services, project),
    needsYou: await needsYou(store, project, workload, SHOWN),
    questions: questions.slice(0, SHOWN),
    gates: rules.gates,
    sandbox: await sandboxOf(services, project),
    budget: { project: await accountView(services, project), all: await accountView(services, null) },
    inbox: await inboxCount(services, project, { workload, questions, alerts }),
    conflicts: workload.conflicts,
    alerts: alerts.slice(0, ALERTS_SHOWN),
    lastSeq,
  };
}

/** What is under way before it becomes tasks. */
async function sourcesOf({ store }: Services, { id: projectId }: Project): Promise<ProjectStatus['sources']> {
  const open = async (noun: 'idea' | 'spec' | 'feedback' | 'proposal') =>
    (await store.records({ noun, projectId, isOpen: true })).length;
  const [ideas, specs, feedback, proposals, issues] = await Promise.all([
    open('idea'),
    open('spec'),
    open('feedback'),
    open('proposal'),
    store.records({ noun: 'tracker_item', projectId, isOpen: true }),
  ]);
  // What Tidemill offers is open too, until the tracker has it.
  const waiting = issues.filter(({ status, waiting: why }) => status === 'waiting' || why === 'edited');
  return { ideas, specs, feedback, proposals, issues: waiting.length };
}

async function environmentsOf({ store }: Services, project: Project): Promise<ProjectStatus['environments']> {
  const { id: projectId, rules } = project;
  if (!rules.delivery?.length) return [];
  const [rows, open] = await Promise.all([
    store.records({ noun: 'environment', projectId }),
    store.records({ noun: 'delivery', projectId, isOpen: true }),
  ]);
  return rules.delivery.map(({ name }) => {
    const own = open.filter(({ environment }) => environment === name);
    return {
      name,
      state: rows.find((row) => row.name === name)?.state ?? 'empty',
      delivery: (own.find(isBusyDelivery) ?? own[0])?.status ?? null,
    };
  });
}

/** Returns whether a task or a job can be worked on now. */
async function hasReadyWork(services: Services, project: Project, readyTasks: number): Promise<boolean> {
  const { store, clock } = services;
  const jobs = await store.records({ noun: 'job', projectId: project.id, isOpen: true });
  if (jobs.some(({ lease }) => lease !== null)) return true;
  // A person holds them, and nothing starts until they say so.
  const workers = await store.workers(project.id);
  if (workers.length > 0 && workers.every(({ desired }) => desired !== 'running'))
    return (await services.engines.of(project).holds()).isChecking;
  const isDue = jobs.some(({ notBefore }) => notBefore - clock.now() < SOON_MS);
  return (readyTasks > 0 || isDue) && !(await onlyWaits(services, project));
}

/** Returns whether all remaining work needs an agent that cannot start now. */
async function onlyWaits({ store, engines }: Services, project: Project): Promise<boolean> {
  const { isWaitingForPerson, holds } = engines.of(project);
  const held = await holds();
  if (!isWaitingForPerson && (held.isChecking || held.texts.length === 0)) return false;
  const { id, rules } = project;
  const stages = Object.values(rules.pipelines).flatMap((pipeline) => Object.entries(pipeline.stages));
  const system = new Set(stages.flatMap(([name, { actor }]) => (actor === 'system' ? [name] : [])));
  const there = await store.tasks({ projectId: id, stages: [...system], limit: SHOWN });
  if (there.some((task) => isReady(task) && task.waiting === null)) return false;
  if (isWaitingForPerson) return true;
  const begun = stages.flatMap(([name, { actor }]) => (actor === 'agent' ? [name] : []));
  const agents = await store.tasks({ projectId: id, stages: ['open', ...new Set(begun)] });
  return agents.every((task) => !isReady(task) || isHeldStart(rules, task, held));
}

/** The number of inbox items, from the counts by stage. For a task with open questions, only the questions count. */
async function inboxCount(
  services: Services,
  project: Project,
  { workload, questions, alerts }: { workload: Workload; questions: QuestionView[]; alerts: InboxItem[] },
): Promise<number> {
  const { all, isCertain } = humanStages(project);
  if (!isCertain) return (await showInbox(services, { project: project.id })).length;
  const stages = new Set(['blocked', ...all]);
  const standing = [...stages].reduce((sum, stage) => sum + (workload.byStage[stage] ?? 0), 0);
  const asking = new Set(questions.flatMap(({ taskId, task }) => (task && stages.has(task.stage) ? [taskId] : [])));
  return questions.length + standing - asking.size + alerts.length;
}

/** The project's setting has priority over the machine's capability. */
async function sandboxOf({ machine }: Services, { root }: Project): Promise<SandboxView> {
  if (!(await machine.statusCache.isSandboxOff(root))) return machine.sandbox();
  return { active: false, text: `sandbox: off in ${CONFIG_FILE}: agents and gates run unsandboxed` };
}
