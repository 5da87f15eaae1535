import type { Task } from '@tidemill/contract';

export const runCount = (runs: Task['runs']) => Object.values(runs).reduce((sum, count) => sum + count, 0);
