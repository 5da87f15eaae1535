import type { ChangeSize } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { recordForecast } from './forecast.ts';

/** The result for one other task, or for the target. */
export interface ComparedWork {
  /** Null: the target. */
  taskId: string | null;
  /** The other task's commit that was compared. Null: nothing was; its entry is removed if the task has ended. */
  commit: string | null;
  /** Empty: no conflict. */
  files: string[];
  size: ChangeSize | null;
}

export interface ForecastCommands {
  /** From the engine. What was found about a commit that is no longer the newest is ignored. */
  'forecast.record': { taskId: string; commit: string; size: ChangeSize | null; compared: ComparedWork[] };
}

export const forecastCommands: CommandParts<keyof ForecastCommands> = {
  'forecast.record': {
    scope: ({ taskId, compared }) => {
      const others = compared.flatMap((other) => other.taskId ?? []);
      return [...new Set([taskId, ...others])].map((id) => look('task', id));
    },
    decide: recordForecast,
  },
};
