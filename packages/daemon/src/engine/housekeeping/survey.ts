import type { HousekeepingConfig, Project } from '@tidemill/contract';
import type { Clock, OutputFile, OutputFiles, OutputKind, Snapshot, Store, Workspace } from '../../ports.ts';
import {
  type ChosenFiles,
  candidates,
  chooseFiles,
  expiry,
  type FileLimits,
  type FileOwner,
  mostBytes,
} from './choice.ts';
import { ownersOfGateLogs } from './gate-logs.ts';
import { oldEvents } from './old-events.ts';
import { oldSnapshots } from './old-snapshots.ts';
import { ownerOfRun } from './run-logs.ts';
import { Tasks } from './tasks.ts';

export interface HousekeepingSources {
  store: Store;
  files: OutputFiles;
  clock: Clock;
  /** Ends a survey with an error, so that a daemon need not wait for it. */
  signal?: AbortSignal;
}

/** A project whose settings are known, so that its data may be removed. */
export interface KeptProject {
  project: Pick<Project, 'id' | 'name'>;
  config: HousekeepingConfig;
  /** Calls back with the repository's workspace. */
  withWorkspace<T>(work: (workspace: Pick<Workspace, 'snapshots' | 'dropSnapshots'>) => Promise<T>): Promise<T>;
}

/** All files of a kind, and those that may be removed. */
export interface FileSurvey extends ChosenFiles {
  all: OutputFile[];
}

/** Above the size of its limit, superseded events go after a day. */
const SHORT_DAYS = 1;

export async function surveyFiles(
  { store, files, clock, signal }: HousekeepingSources,
  kind: OutputKind,
  projects: readonly KeptProject[],
): Promise<FileSurvey> {
  const all = await files.list(kind);
  const now = clock.now();
  const limits = new Map(projects.map(({ project, config }) => [project.id, limitsOf(config, kind, now)]));
  const known = [...limits.values()];
  if (known.length === 0) return { all, aged: [], oversized: [] };
  const some = candidates(all, known);
  if (some.length === 0) return { all, aged: [], oversized: [] };
  const tasks = new Tasks(store, clock, signal);
  const owners =
    kind === 'gates'
      ? await ownersOfGateLogs(store, tasks, new Set(some.map(({ id }) => id)))
      : await ownersOf(tasks, some, (id) =>
          kind === 'runs' ? ownerOfRun(store, tasks, id) : ownerOfDelivery(store, id),
        );
  const ofNobody: FileLimits = {
    expiry: Math.min(...known.map((each) => each.expiry)),
    landedExpiry: Number.NEGATIVE_INFINITY,
    mostBytes: Math.max(...known.map((each) => each.mostBytes)),
  };
  const limitsFor = (projectId: string | null) => (projectId === null ? ofNobody : limits.get(projectId));
  return { all, ...chooseFiles(some, (id) => owners.get(id), limitsFor) };
}

function limitsOf(config: HousekeepingConfig, kind: OutputKind, now: number): FileLimits {
  const { runLogs: runs, gateLogs: gates, deliveryLogs: deliveries } = config;
  const { days, megabytes } = { runs, gates, deliveries }[kind];
  const ordinary = expiry(days, now);
  // Evidence of landed work is never removed before the rest.
  const landed = kind === 'gates' ? Math.min(ordinary, expiry(config.landedGateLogs.days, now)) : ordinary;
  return { expiry: ordinary, landedExpiry: landed, mostBytes: mostBytes(megabytes) };
}

async function ownerOfDelivery(store: Store, id: string): Promise<FileOwner | undefined> {
  const delivery = await store.record('delivery', id);
  return delivery ? { projectId: delivery.projectId, endedAt: delivery.endedAt, isLanded: false } : undefined;
}

async function ownersOf(
  tasks: Tasks,
  files: readonly OutputFile[],
  ownerOf: (id: string) => Promise<FileOwner | undefined>,
): Promise<Map<string, FileOwner>> {
  const owners = new Map<string, FileOwner>();
  for (const { id } of files) {
    await tasks.turn();
    const owner = await ownerOf(id);
    if (owner) owners.set(id, owner);
  }
  return owners;
}

export async function surveySnapshots(
  { store, clock }: HousekeepingSources,
  { project, config, withWorkspace }: KeptProject,
): Promise<{ all: Snapshot[]; old: Snapshot[] }> {
  const all = await withWorkspace((workspace) => workspace.snapshots());
  return { all, old: await oldSnapshots(store, project.id, all, expiry(config.snapshots.days, clock.now())) };
}

/** The superseded events of a project that may be removed, in pages. */
export async function* surveyEvents(
  { store, clock, signal }: HousekeepingSources,
  { project, config }: KeptProject,
): AsyncGenerator<number[]> {
  const { days, megabytes } = config.events;
  if (days === 'never') return;
  const isTooLarge = (await store.logSize()).bytes > mostBytes(megabytes);
  const before = expiry(isTooLarge ? Math.min(days, SHORT_DAYS) : days, clock.now());
  yield* oldEvents(store, clock, { projectId: project.id, expiry: before, signal });
}
