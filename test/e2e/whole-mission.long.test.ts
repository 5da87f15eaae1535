import { delimiter } from 'node:path';
import { describe, test } from 'vitest';
import { approved } from '../support/mission/vendor-tasks.ts';
import { claude, install } from '../support/mission/vendors.ts';
import { resultFor } from '../support/mission/whole-story.ts';
import { type Assignment, type Move, result, write } from '../support/model/mind.ts';
import { playStory, SCRIPTED } from './whole-mission-suite.ts';

const MINUTE = 60_000;

describe('from an idea to landed work, and from an empty queue to the next idea', () => {
  test('with the scripted agent and a specification of eight tasks', { timeout: 4 * MINUTE }, () =>
    playStory({ agents: SCRIPTED, tasks: 8 }),
  );

  test('works with Claude Code and a scripted model', { timeout: 6 * MINUTE }, async (context) => {
    const found = await install(claude);
    context.skip('missing' in found, 'missing' in found ? found.missing : '');
    if ('missing' in found) return;
    const tasks = 2;
    const model = await claude.serve((about) => mind(about, tasks));
    try {
      const env = { PATH: [found.bin, process.env.PATH].join(delimiter) };
      await playStory({ agents: { default: claude.agent(model.url, found) }, tasks, env });
    } finally {
      await model.stop();
    }
  });
});

function mind({ mode, task, prompt, results }: Assignment, tasks: number): Move {
  if (mode === 'plan') return result('plan_complete', { plan: 'Write it.' });
  if (mode === 'investigate')
    return result('investigation_complete', { investigationSummary: 'Found.', plan: 'Mend.' });
  if (mode === 'review') return approved(prompt);
  if (mode === 'implement' || mode === 'request_changes')
    return results.length === 0 ? write(`parts/${task}.txt`, `part ${task}\n`) : result('pr_ready');
  const part = resultFor(tasks, mode, prompt);
  return result(part.outcome, part.result);
}
