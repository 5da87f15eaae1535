import type { LoopConfig, PauseTrigger } from '@tidemill/contract';

/** Fewer say nothing about a rate. */
const LEAST_RUNS = 10;
const LEAST_LANDED = 3;
const LEAST_FINISHED = 10;

/** What the loop did and cost since it was switched on, at most a day or a month ago. */
export interface LoopFigures {
  spentDayUsd: number;
  /** Null: there is no limit. */
  budgetUsd: number | null;
  /** Runs of a day that ended. */
  runsDay: number;
  failedDay: number;
  spentMonthUsd: number;
  landedMonth: number;
  /** Its tasks that landed or were given up within a month, and those that were reverted or given up. */
  finishedMonth: number;
  lostMonth: number;
}

const percent = (share: number) => `${Math.round(share * 100)} %`;
const usd = (amount: number) => `$${amount.toFixed(2)}`;

/** Which limit is exceeded, if any, in words for a person. */
export function pauseReason(
  figures: LoopFigures,
  { pauseAt }: Pick<LoopConfig, 'pauseAt'>,
): { trigger: PauseTrigger; why: string } | null {
  const { spentDayUsd, budgetUsd, runsDay, failedDay, spentMonthUsd, landedMonth, finishedMonth, lostMonth } = figures;
  if (budgetUsd !== null && spentDayUsd > budgetUsd * pauseAt.budget) {
    const why = `it cost ${usd(spentDayUsd)} within a day, more than ${percent(pauseAt.budget)} of its budget of ${usd(budgetUsd)}`;
    return { trigger: 'budget', why };
  }
  if (runsDay >= LEAST_RUNS && failedDay / runsDay > pauseAt.crashRate) {
    const why = `${failedDay} of its ${runsDay} runs of the last day failed, more than ${percent(pauseAt.crashRate)}`;
    return { trigger: 'crash_rate', why };
  }
  // A few dear tasks at the beginning are no trend; dear work that never lands is one.
  if (spentMonthUsd > pauseAt.costPerTaskUsd * Math.max(landedMonth, LEAST_LANDED)) {
    const why = `it cost ${usd(spentMonthUsd)} for ${landedMonth} landed tasks, more than ${usd(pauseAt.costPerTaskUsd)} each`;
    return { trigger: 'cost_per_task', why };
  }
  if (finishedMonth >= LEAST_FINISHED && lostMonth / finishedMonth > pauseAt.regression) {
    const why = `${lostMonth} of its last ${finishedMonth} tasks were reverted or given up, more than ${percent(pauseAt.regression)}`;
    return { trigger: 'regression', why };
  }
  return null;
}
