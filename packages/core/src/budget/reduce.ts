import type { Account, EventBody, Run } from '@tidemill/contract';
import { ALL_PROJECTS, accountId, sumUsd } from '@tidemill/contract';
import { moreUsd } from '../run/usage.ts';
import type { Slice } from '../slice.ts';
import { estimateKey, learnEstimate } from './budget.ts';
import { newAccount, pursesOf } from './period.ts';

/** The accounts after an event. Called before the run's own row changes: what it cost so far is there. */
export function reduceBudget(slice: Slice, projectId: string, at: number, body: EventBody): void {
  switch (body.type) {
    case 'run.started': {
      const { runId, reservedUsd } = body;
      // A new day begins with the first run of it, even one that nothing is set aside for: a clock that is set back
      // must not lead a run that was begun today into yesterday's account.
      onAccounts(slice, projectId, at, (account) =>
        reservedUsd > 0 ? { reserved: { ...account.reserved, [runId]: reservedUsd } } : {},
      );
      return;
    }
    case 'run.spent':
    case 'run.finished': {
      const run = slice.runs.get(body.runId);
      if (run) book(slice, projectId, at, run, body);
      return;
    }
    case 'budget.limited': {
      const limits = { ...body.limits, timeZone: body.timeZone };
      const account = slice.record('account', body.accountId) ?? newAccount(ALL_PROJECTS, limits, at);
      slice.records.put({ ...account, limits });
      return;
    }
    case 'budget.reserved': {
      const account = slice.record('account', body.accountId);
      if (account) slice.records.put({ ...account, reserved: { ...account.reserved, ...body.reserved } });
      return;
    }
    case 'budget.threshold_reached': {
      const { accountId: id, period, threshold } = body;
      onAccounts(slice, projectId, at, (account) =>
        account.id === id ? { told: { ...account.told, [period]: threshold } } : {},
      );
      return;
    }
    default:
      return;
  }
}

function book(
  slice: Slice,
  projectId: string,
  at: number,
  run: Run,
  body: Extract<EventBody, { type: 'run.spent' | 'run.finished' }>,
): void {
  const more = moreUsd(run.usage, body.usage);
  const isOver = body.type === 'run.finished';
  const accounts = [accountId(projectId), accountId(ALL_PROJECTS)].map((id) => slice.record('account', id));
  const isSetAside = accounts.some((account) => account?.reserved[run.id] !== undefined);
  if (!isSetAside && more === 0 && run.reservedUsd === 0) return;
  const task = slice.tasks.get(run.taskId);
  const key = task ? estimateKey(run.agent, run.mode, task) : null;
  onAccounts(slice, projectId, at, (account) => {
    const { [run.id]: left = 0, ...others } = account.reserved;
    const isOwn = account.id === accountId(projectId);
    // What was interrupted or failed says little about what a run like it costs.
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

function onAccounts(slice: Slice, projectId: string, at: number, change: (account: Account) => Partial<Account>): void {
  const project = slice.projects.get(projectId);
  if (!project) return;
  for (const { account } of pursesOf(slice, project, at)) {
    const changed = change(account);
    if (Object.keys(changed).length > 0 || account !== slice.record('account', account.id))
      slice.records.put({ ...account, ...changed });
  }
}
