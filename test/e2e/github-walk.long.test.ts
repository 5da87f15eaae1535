import { describe, expect, test } from 'vitest';
import { GithubWalk } from '../support/github/walk.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const MOST_KILLS = 12;

describe('a team that lives on GitHub', () => {
  test('issues, pull requests, a comment, a conflict, an escalation, an own proposal: nothing is doubled though the daemon is killed at random', {
    timeout: 8 * MINUTE,
  }, async () => {
    const walk = await GithubWalk.open();
    let isOver = false;
    let kills = 0;
    const written = () => walk.bed.github.writes('mill-bot').filter(({ method }) => method !== 'PATCH').length;
    // Soon after a write, when something is half done; and only so often that work can get on.
    const chaos = (async () => {
      while (!isOver && kills < MOST_KILLS) {
        const enough = written() + 1 + Math.floor(Math.random() * 6);
        await until(() => isOver || written() >= enough);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
        if (isOver) break;
        await walk.bed.kill();
        kills += 1;
        await walk.bed.up();
      }
    })();
    try {
      const numbers = await walk.threeIssues();
      numbers.push(await walk.conflict(), await walk.escalation(), await walk.proposal());
      isOver = true;
      await chaos;
      await walk.nothingDoubled(numbers);
      expect(kills).toBeGreaterThan(3);
    } finally {
      isOver = true;
      await chaos.catch(() => undefined);
      await walk.close();
    }
  });
});
