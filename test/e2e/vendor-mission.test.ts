import { describe, test } from 'vitest';
import { claude, install } from '../support/mission/vendors.ts';
import { landTasks } from './vendor-mission-suite.ts';

const found = await install(claude);

// The one real program of a vendor in `npm test`. What the others say is recorded: test/contract/agent-transcripts.
describe('a task that the tests send back once', () => {
  test('lands with the real Claude Code, with evidence', { timeout: 300_000 }, async (context) => {
    context.skip('missing' in found, 'missing' in found ? found.missing : '');
    if (!('missing' in found)) await landTasks(claude, found, 1);
  });
});
