import type { AccountView, ProjectStatus, WorkerView } from '@tidemill/contract';
import type { LinkState, Seen } from '../connection/seen.ts';
import { limit, money, otherVersionText, plural } from '../words.ts';
import { type Card, cardOf, figuresOf } from './card.ts';

export interface Spend {
  label: string;
  text: string;
  percent: number;
  /** By the thresholds at which people are told. */
  look: 'calm' | 'warning' | 'critical';
}

/** A line above the cards. `command` is run by its button. */
export interface Banner {
  severity: 'info' | 'warning' | 'error';
  text: string;
  action: { label: string; command: string } | null;
}

/** Everything the fleet view shows. */
export interface Overview {
  state: LinkState;
  project: string;
  counts: string;
  spend: Spend[];
  banners: Banner[];
  cards: Card[];
  total: Card['figures'];
  /** `14:05`, when the figures could not be read since then. */
  figuresFrom: string | null;
  canAdd: boolean;
  canAct: boolean;
  /** Also where nothing else may be done: it only ends work. */
  canStop: boolean;
}

export interface OverviewOptions {
  /** The setting `tidemill.workers`: no more agents than this are added here. */
  maxWorkers: number;
  isTrusted: boolean;
}

const isAgent = ({ role }: WorkerView) => role === 'builder' || role === 'reviewer';

export function overviewOf(seen: Seen, { maxWorkers, isTrusted }: OverviewOptions): Overview {
  const { status, metrics, state } = seen;
  const agents = state === 'ready' && status ? status.workers.filter(isAgent) : [];
  const builders = agents.filter(({ role, isOutside }) => role === 'builder' && !isOutside);
  const figures = (name: string) => metrics?.workers.find((each) => each.name === name);
  const isOld = metrics !== null && (metrics.isStale || seen.isMetricsOld);
  return {
    state,
    project: status?.project.name ?? '',
    counts: countsOf(agents),
    spend: status?.budget ? spendOf(status.budget.project) : [],
    banners: bannersOf(seen, isTrusted),
    cards: agents.map((worker) => {
      const card = cardOf(worker, figures(worker.name), seen.statusAt);
      return isTrusted ? card : { ...card, buttons: [] };
    }),
    total: metrics ? figuresOf(metrics.total) : [],
    figuresFrom: isOld ? new Date(metrics.computedAt).toLocaleTimeString('en-GB') : null,
    canAdd: isTrusted && status?.running === true && builders.length < maxWorkers,
    canAct: isTrusted && state === 'ready',
    canStop: state === 'ready',
  };
}

function countsOf(workers: WorkerView[]): string {
  const count = (...names: string[]) => workers.filter(({ status }) => names.includes(status)).length;
  const crashed = count('crashed', 'failed');
  return [
    plural(workers.length, 'agent'),
    `${count('working', 'reviewing', 'ideating')} active`,
    `${count('paused')} paused`,
    `${count('stopped')} stopped`,
    ...(crashed > 0 ? [`${crashed} crashed`] : []),
  ].join(' · ');
}

function spendOf({ daily, monthly, limits }: AccountView): Spend[] {
  const of = (label: string, { spentUsd }: { spentUsd: number }, most: number): Spend => {
    const share = (spentUsd / most) * 100;
    const look = share >= 90 ? 'critical' : share >= 75 ? 'warning' : 'calm';
    return { label, text: `${money(spentUsd)} of ${limit(most)} (${share.toFixed(1)} %)`, percent: share, look };
  };
  return [of('Today', daily, limits.dailyUsd), of('This month', monthly, limits.monthlyUsd)];
}

function bannersOf({ state, isLive, isUnreadable, version, status }: Seen, isTrusted: boolean): Banner[] {
  if (state === 'other_version') return [otherVersion(version)];
  if (state !== 'ready') return [notReady(state, isTrusted)];
  return [
    ...(isUnreadable ? [otherVersion(version)] : []),
    ...(isLive ? [] : [POLLING]),
    ...(isTrusted ? [] : [UNTRUSTED]),
    ...(status && !status.running ? [notRunning(isTrusted)] : []),
    ...(status?.budget?.project.stopped ? [stopped(status.budget.project.stopped)] : []),
    ...alertsOf(status),
    ...[...(status?.holds ?? []), ...(status?.warnings ?? [])].map(
      (text): Banner => ({ severity: 'warning', text, action: null }),
    ),
  ];
}

const START = { label: 'Start', command: 'tidemill.start' };
const POLLING: Banner = {
  severity: 'warning',
  text: 'No live connection. Changes are shown every few seconds.',
  action: null,
};
const UNTRUSTED: Banner = {
  severity: 'warning',
  text: 'You have not trusted this workspace. You can watch; nothing can be started or changed here.',
  action: { label: 'Manage trust', command: 'workbench.trust.manage' },
};
const otherVersion = (version: string): Banner => ({
  severity: 'error',
  text: otherVersionText(version),
  action: null,
});
const stopped = (text: string): Banner => ({ severity: 'error', text, action: null });

function notRunning(isTrusted: boolean): Banner {
  return { severity: 'info', text: 'Tidemill is not working on this repository.', action: isTrusted ? START : null };
}

function notReady(state: Exclude<LinkState, 'ready' | 'other_version'>, isTrusted: boolean): Banner {
  if (state === 'looking') return { severity: 'info', text: 'Looking for Tidemill…', action: null };
  if (state === 'no_repository')
    return {
      severity: 'info',
      text: 'Open a folder with a git repository to let agents work on it.',
      action: { label: 'Open folder', command: 'vscode.openFolder' },
    };
  if (!isTrusted) return UNTRUSTED;
  const text = state === 'no_daemon' ? 'Tidemill is not running.' : 'Tidemill is running, but not on this repository.';
  return { severity: 'info', text, action: START };
}

function alertsOf(status: ProjectStatus | null): Banner[] {
  return (status?.alerts ?? []).map(({ severity, title, text }) => ({
    severity: severity === 'critical' ? 'error' : severity,
    text: text || title,
    action: { label: 'Show', command: 'tidemill.inbox.focus' },
  }));
}
