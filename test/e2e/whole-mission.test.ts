import { describe, test } from 'vitest';
import { playStory, SCRIPTED } from './whole-mission-suite.ts';

describe('a whole mission from an idea to landed work, and from an empty queue to the next idea', () => {
  test('works with the scripted agent, by command line only', { timeout: 240_000 }, () =>
    playStory({ agents: SCRIPTED, tasks: 2 }),
  );
});
