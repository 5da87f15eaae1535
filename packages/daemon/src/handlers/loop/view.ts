import {
  type Category,
  EXPOSURES,
  isLoopHeld,
  isLoopOn,
  type Loop,
  type LoopConfig,
  type LoopView,
  loopId,
  type Project,
  type Proposal,
  type ProposalView,
} from '@tidemill/contract';
import { alertId, approvalOf } from '@tidemill/core';
import { seeCategories, viewCategory } from '../../engine/loop/categories.ts';
import { LoopLedger, MONTH_MS } from '../../engine/loop/ledger.ts';
import { queueDepth } from '../../engine/reactors/loop.ts';
import type { Services } from '../context.ts';

export async function viewLoop(services: Services, project: Project): Promise<LoopView> {
  const { store, clock, repositories } = services;
  const { id: projectId, rules } = project;
  const now = clock.now();
  const ledger = new LoopLedger(store, projectId);
  const [loop, texts, records, jobs, load, stalled] = await Promise.all([
    store.record('loop', loopId(projectId)),
    repositories.improvementsOf(project).categories(),
    store.records({ noun: 'category', projectId }),
    store.records({ noun: 'job', projectId, isOpen: true }),
    store.workload(projectId),
    store.record('alert', alertId(projectId, 'loop_stalled', '')),
    ledger.refresh(now),
  ]);
  const { min, max, exposure, budgetUsdPerDay = null } = rules.loop;
  const seen = seeCategories(texts, rules.loop, projectId, records, ledger.proposals);
  const waiting = [...ledger.proposals].filter(({ status }) => status === 'waiting');
  return {
    isOn: isLoopOn(loop, rules.loop),
    text: stateText(loop, rules.loop, now),
    paused: loop?.paused ?? null,
    queue: { depth: queueDepth(load, ledger.proposals), min, max },
    exposure: { stage: exposure, ...EXPOSURES[exposure - 1]! },
    approval: approvalOf(rules),
    proposing: jobs.find(({ mode }) => mode === 'propose')?.input ?? null,
    figures: {
      ...ledger.shown(now),
      budgetUsdPerDay,
      coverage: coverageOf(
        seen.filter(({ unused }) => unused === null).map(({ record }) => record),
        now,
      ),
      stalls: stalled?.count ?? 0,
    },
    categories: seen.map((each) => viewCategory(each, now)),
    waiting: await viewProposals(
      services,
      projectId,
      waiting.sort((a, b) => a.number - b.number),
    ),
  };
}

function stateText(loop: Loop | null, { enabled }: LoopConfig, now: number): string {
  if (loop?.paused) return `paused: ${loop.paused.why}`;
  if (isLoopHeld(loop, now))
    return `on; its budget of a day is spent until ${new Date(loop!.heldUntil!).toISOString()}`;
  if (loop?.switched) return `switched ${loop.switched.on ? 'on' : 'off'} by ${loop.switched.by.name}`;
  return enabled ? 'on, by the settings' : 'off, by the settings';
}

/** The share of the categories in use that were used within a month. */
function coverageOf(used: (Category | null)[], now: number): number {
  if (used.length === 0) return 0;
  return used.filter((record) => record !== null && record.lastUsedAt > now - MONTH_MS).length / used.length;
}

export async function viewProposals(
  { store }: Services,
  projectId: string,
  proposals: readonly Proposal[],
): Promise<ProposalView[]> {
  const ids = proposals.flatMap(({ taskId }) => taskId ?? []);
  const tasks = ids.length === 0 ? [] : await store.tasks({ projectId, ids });
  return proposals.map((proposal) => {
    const { noun: _noun, projectId: _project, categoryId: _category, jobId: _job, ...shown } = proposal;
    const task = tasks.find(({ id }) => id === proposal.taskId);
    return { ...shown, task: task ? { number: task.number, title: task.title, stage: task.stage } : null };
  });
}
