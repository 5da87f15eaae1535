import type { Account, Run } from '@tidemill/contract';
import { ALL_PROJECTS, accountId, sumUsd } from '@tidemill/contract';
import type { EventOf, Happened, Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';
import { estimateKey, learnEstimate, sizeOf, sizeOfInput } from './budget.ts';
import { budgetAccountsOf, newAccount } from './period.ts';
import { moreUsd } from './usage.ts';

/** The accounts after an event. Applied before the run's own row changes, because its previous cost is needed. */
export const budgetEvents = {
  'run.started': (slice, { runId, reservedUsd }, happened) =>
    // A new day begins with its first run, even one without a reservation. If the clock is set back later, a run that
    // started today must not be booked on yesterday.
    onAccounts(slice, happened, (account) =>
      reservedUsd > 0 ? { reserved: { ...account.reserved, [runId]: reservedUsd } } : {},
    ),
  'run.spent': book,
  'run.finished': book,
  'budget.limited': (slice, { accountId: id, limits: { dailyUsd, monthlyUsd }, timeZone }, { at }) => {
    const limits = { dailyUsd, monthlyUsd, timeZone };
    slice.records.put({
      ...(slice.record('account', id) ?? newAccount(ALL_PROJECTS, limits, at, slice.calendars)),
      limits,
    });
  },
  'budget.reserved': (slice, { accountId: id, reserved }) => {
    const account = slice.record('account', id);
    if (account) slice.records.put({ ...account, reserved: { ...account.reserved, ...reserved } });
  },
  'budget.threshold_reached': (slice, { accountId: id, period, threshold }, happened) =>
    onAccounts(slice, happened, (account) =>
      account.id === id ? { told: { ...account.told, [period]: threshold } } : {},
    ),
} satisfies Reductions;

function book(slice: Slice, body: EventOf<'run.spent' | 'run.finished'>, happened: Happened): void {
  const run = slice.runs.ifLoaded(body.runId);
  if (!run) return;
  const { projectId } = happened;
  const more = moreUsd(run.usage, body.usage);
  const isOver = body.type === 'run.finished';
  const accounts = [accountId(projectId), accountId(ALL_PROJECTS)].map((id) => slice.record('account', id));
  const isSetAside = accounts.some((account) => account?.reserved[run.id] !== undefined);
  if (!isSetAside && more === 0 && run.reservedUsd === 0) return;
  const key = estimateKeyOf(slice, run);
  onAccounts(slice, happened, (account) => {
    const { [run.id]: left = 0, ...others } = account.reserved;
    const isOwn = account.id === accountId(projectId);
    // Interrupted and failed runs say little about the usual cost.
    const isTelling = isOver && isOwn && key !== null && body.failure === null && body.outcome !== 'interrupted';
    return {
      spentDayUsd: sumUsd(account.spentDayUsd, more),
      spentMonthUsd: sumUsd(account.spentMonthUsd, more),
      reserved: isOver || left === 0 ? others : { ...others, [run.id]: Math.max(0, left - more) },
      estimates: isTelling
        ? { ...account.estimates, [key]: learnEstimate(account.estimates[key], body.usage.costUsd ?? 0) }
        : account.estimates,
    };
  });
}

function estimateKeyOf(slice: Slice, run: Run): string | null {
  if (run.jobId !== undefined) {
    const job = slice.record('job', run.jobId);
    return job ? estimateKey(run.agent, run.mode, sizeOfInput(job.input)) : null;
  }
  const task = slice.tasks.get(run.subjectId);
  return task ? estimateKey(run.agent, run.mode, sizeOf(task)) : null;
}

function onAccounts(slice: Slice, { projectId, at }: Happened, change: (account: Account) => Partial<Account>): void {
  const project = slice.projects.get(projectId);
  if (!project) return;
  for (const { account } of budgetAccountsOf(slice, project, at)) {
    const changed = change(account);
    if (Object.keys(changed).length > 0 || account !== slice.record('account', account.id))
      slice.records.put({ ...account, ...changed });
  }
}
