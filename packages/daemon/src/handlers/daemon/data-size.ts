import { existsSync } from 'node:fs';
import type { Project } from '@tidemill/contract';
import { loadSettings } from '../../config/load.ts';
import {
  type HousekeepingSources,
  type KeptProject,
  surveyEvents,
  surveyFiles,
  surveySnapshots,
} from '../../engine/housekeeping/survey.ts';
import type { OutputKind } from '../../ports.ts';
import type { Services } from '../context.ts';
import { worktreesIn } from '../task/worktree.ts';
import type { Say } from './doctor.ts';

const NAMES: Record<OutputKind, string> = { runs: 'run logs', gates: 'gate logs', deliveries: 'delivery logs' };

/** Reports how much data there is, and what the next pass of housekeeping removes. */
export async function sayHowMuch(services: Services, projects: readonly Project[], say: Say): Promise<void> {
  const kept = (await Promise.all(projects.map((project) => keptProject(services, project)))).filter(
    (each) => each !== null,
  );
  const { store, clock } = services;
  const sources: HousekeepingSources = { store, clock, files: services.machine.outputs };
  for (const kind of ['runs', 'gates', 'deliveries'] as const) {
    const { all, aged, oversized } = await surveyFiles(sources, kind, kept);
    const next = [...aged, ...oversized];
    const removes = next.length === 0 ? 'nothing' : `${next.length} of them, ${megabytes(sumOf(next))}`;
    say('ok', 'data', `${NAMES[kind]}: ${counted(all.length, 'file')}, ${megabytes(sumOf(all))}; ${NEXT} ${removes}`);
  }
  const { events, bytes } = await store.logSize();
  let superseded = 0;
  for (const each of kept) for await (const page of surveyEvents(sources, each)) superseded += page.length;
  const removes = superseded === 0 ? 'nothing' : `${superseded} superseded ones`;
  say('ok', 'data', `event log: ${counted(events, 'event')}, about ${megabytes(bytes)}; ${NEXT} ${removes}`);
  for (const each of kept) await sayOfProject(services, sources, each, say);
}

async function sayOfProject(
  services: Services,
  sources: HousekeepingSources,
  kept: KeptProject & { project: Project },
  say: Say,
): Promise<void> {
  const { name } = kept.project;
  const { all, old } = await surveySnapshots(sources, kept);
  const removes = old.length === 0 ? 'nothing' : `${old.length} of them`;
  say('ok', 'data', `${name}: ${counted(all.length, 'snapshot')}; ${NEXT} ${removes}`);
  for (const { number, why, path, bytes, isCut } of await worktreesIn(services, kept.project, ['blocked']))
    say(
      'ok',
      'worktrees',
      `${name}: #${number} is blocked (${(why ?? '').replaceAll('_', ' ')}), its worktree is kept: ${path}, ${isCut ? 'more than ' : ''}${megabytes(bytes)}`,
    );
}

/** Null without a readable config: nothing of such a project is removed. */
async function keptProject(services: Services, project: Project): Promise<(KeptProject & { project: Project }) | null> {
  if (!existsSync(project.root)) return null;
  const settings = await loadSettings(project.root).catch(() => null); // reported as a problem of the config
  if (!settings) return null;
  return {
    project,
    config: settings.config.housekeeping,
    withWorkspace: (work) => services.repositories.withWorkspace(project, work),
  };
}

const NEXT = 'the next pass removes';
const sumOf = (files: { bytes: number }[]) => files.reduce((sum, { bytes }) => sum + bytes, 0);
const counted = (count: number, noun: string) => `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
