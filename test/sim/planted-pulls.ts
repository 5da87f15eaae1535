import { decide } from '@tidemill/core';
import type { PlantedBug } from './planted.ts';

/** Typical mistakes of landing by pull requests. */
export const plantedPullBugs: Record<string, PlantedBug> = {
  'no checks count as passed': {
    forge: (forge) => ({
      checks: async (commit, target) => {
        const answer = await forge.checks(commit, target);
        const isBare = answer.results.every(({ name }) => name.startsWith('tidemill/'));
        const green = { name: 'build', state: 'passed' as const, summary: '', url: null };
        return isBare ? { ...answer, results: [green] } : answer;
      },
    }),
  },
  'comments are forgotten, and passed on again': {
    decide: (slice, command, env) =>
      command.type === 'merge.record_comments'
        ? decide(slice, { ...command, seen: { comment: 0, line: 0, review: 0 } }, env)
        : decide(slice, command, env),
  },
};
