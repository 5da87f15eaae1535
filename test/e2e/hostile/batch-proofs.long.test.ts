import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProofBed, type ProofProject } from '../../support/hostile/proof-bed.ts';
import { until } from '../../support/until.ts';

const MINUTE = 60_000;
const bed = new ProofBed();
beforeAll(() => bed.open(), MINUTE);
afterAll(() => bed.close());

/** `b` breaks `a` unless there is `c`. Each alone passes. It looks for none of them by name: that would make them decide. */
const GATE = '! ls | grep -qx a.txt || ! ls | grep -qx b.txt || ls | grep -qx c.txt';
/** Writes the file that the task is named after. Told that it fails, it makes up for it. */
const AGENT = `n=$(git branch --show-current | sed 's/.*-//'); test -f a.txt && test "$n" = b && echo x > c.txt; echo x > $n.txt`;

/** Four tasks that wait to land at the same time: the first one lands alone, the others together. */
async function landed(config: string): Promise<ProofProject> {
  const mine = await bed.repository(`${config}\npush: never\ngates:\n  - { name: test, run: "${GATE}" }\n`, AGENT, {
    'notes.txt': 'start\n',
  });
  await mine.start();
  writeFileSync(join(mine.root, 'notes.txt'), 'a person is writing\n');
  const titles = ['first', 'a', 'b', 'c'];
  for (const title of titles) {
    await mine.add(title);
    await mine.arrives(title, 'merge');
  }
  const steered = (operation: 'pause' | 'resume') =>
    mine.api.steerWorkers({ project: mine.project, worker: 'all', operation, by: 'ann' });
  const waits = async (title: string) => (await mine.byTitle(title))?.waiting != null;
  for (const title of titles) await until(() => waits(title));
  await steered('pause');
  const isBusy = async () => (await mine.api.workers({ project: mine.project })).some(({ task }) => task !== null);
  await until(async () => !(await isBusy()));
  writeFileSync(join(mine.root, 'notes.txt'), 'start\n');
  // All may land before the merger looks for the first one: otherwise it would find some of them still waiting.
  for (const title of titles) await until(async () => !(await waits(title)));
  await steered('resume');
  for (const title of titles) await mine.arrives(title, 'done');
  return mine;
}

describe('a batch whose middle commit fails its own gate', { timeout: 4 * MINUTE }, () => {
  test('lands by default, and `evidence verify` says what proves each commit', async () => {
    const mine = await landed('batch: 5');
    const last = await bed.machine.git(mine.root, 'rev-parse', 'main');
    const said = async (commit: string) => {
      const { ok, checks } = await mine.api.verifyEvidence({ project: mine.project, commit });
      expect(ok).toBe(true);
      return checks.map(({ text }) => text).join('\n');
    };
    expect(await said('main')).toContain('proven alone: ');
    expect(await said('main~1')).toContain(`proven as part of the batch that ends in ${last.slice(0, 12)}: `);
    expect(await said('main~1')).toContain('passed for the last tree of the batch: integrity, test');
    expect(await said('main~3')).toContain('proven alone: ');
  });

  test('does not land with `prove: each`: its task goes back, and every commit is proven alone', async () => {
    const mine = await landed('batch: { prove: each }');
    for (const commit of ['main', 'main~1', 'main~2', 'main~3']) {
      const { ok, checks } = await mine.api.verifyEvidence({ project: mine.project, commit });
      expect(ok).toBe(true);
      expect(checks.map(({ text }) => text).join('\n')).toContain('proven alone: ');
    }
  });
});
