import { describe, test } from 'vitest';
import { playStory, SCRIPTED } from './whole-mission-suite.ts';

describe('from an idea to landed work, and from an empty queue to the next idea', () => {
  test('with the scripted agent, by command line only', { timeout: 240_000 }, () =>
    playStory({ agents: SCRIPTED, tasks: 2 }),
  );
});
