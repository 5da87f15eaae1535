import { type Config, type Project, ranTests } from '@tidemill/contract';
import { newestByGate } from '@tidemill/core';
import type { Services } from '../context.ts';
import type { Say } from './doctor.ts';

/** The command or the name of a gate that probably runs tests. */
const RUNS_TESTS = /test|spec|jest|mocha|\bava\b|\btap\b|phpunit|pest|tox|nox|bats|\bprove\b/i;

/** Gates of tests whose figures could not be read when the target was proven: they pass without a test. */
export async function sayUnreadFigures(services: Services, project: Project, config: Config, say: Say): Promise<void> {
  const tree = await services.repositories.withWorkspace(project, async (workspace) =>
    workspace.treeOf(await workspace.targetCommit()),
  );
  const newest = newestByGate(await services.store.evidenceForTree(project.id, tree), project.rules.gateConfigs);
  for (const { name, run, kind = 'command', expects } of config.gates) {
    const link = newest.get(name);
    if (!link || kind !== 'command' || expects !== undefined || !RUNS_TESTS.test(`${name} ${run}`)) continue;
    if (ranTests(link.counts) > 0) continue;
    const why = link.counts ? 'ran no tests on the target' : 'prints no test figures that can be read';
    say(
      'warning',
      'gates',
      `${project.name}: gate ${name} (${run}) ${why}, so a change that runs no tests would pass it`,
      'Name the figures with `counts:` or `report:`, see docs/settings.md. If it runs no tests, set `expects: exit_code`.',
    );
  }
}
