import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasBrowser, launchBrowser, NO_BROWSER, OUTPUT, PATIENCE_MS } from '../support/browser.ts';
import { TidemillHome } from '../support/tidemill-home.ts';

/** One more for the demo's agents: it needs something from a person before it can be planned. */
const ASKING = `
runs:
  - when: { task: spring tide, mode: plan }
    do:
      - ask:
          questions:
            - text: From which height on is it a spring tide in this harbour?
              options: [ "5.0 m", { label: the highest tenth of the year, recommended: true } ]
`;

/** `TIDEMILL_PICTURE=1 npx vitest run test/e2e/page-demo` creates the picture of the README again. */
test('the page shows the running demo: a worker is busy, something needs you, something has landed', {
  timeout: 6 * PATIENCE_MS,
}, async ({ skip }) => {
  skip(!hasBrowser, NO_BROWSER);
  const machine = new TidemillHome();
  const browser = await launchBrowser(machine.env);
  try {
    const sample = join(machine.folder, 'tide-almanac');
    void machine.run(['demo', '--dir', sample], machine.home);
    const scenario = join(sample, '.tidemill', 'scenario.yaml');
    await expect.poll(() => existsSync(scenario), { timeout: PATIENCE_MS }).toBe(true);
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
    context.setDefaultTimeout(2 * PATIENCE_MS);
    const own = await context.newPage();
    await expect
      .poll(async () => (await machine.run(['status'], sample)).stdout, { timeout: PATIENCE_MS })
      .toContain('Page: ');
    const { stdout } = await machine.run(['status'], sample);
    await own.goto(/^Page: (\S+)$/m.exec(stdout)![1]!);
    const [project] = await machine.api().projects({});
    const rules = readFileSync(scenario, 'utf8');
    writeFileSync(scenario, rules.replace(/^runs:$/m, ASKING.trim()));
    await machine.git(sample, 'commit', '-qam', 'Spring tides');
    await machine
      .api()
      .addTask({ project: project!.id, title: 'Warn before a spring tide', accept: ['It warns'], priority: 0 });
    const strip = (name: string | RegExp) => own.getByRole('region', { name });
    await strip(/^Needs you/)
      .getByText('has a question for you')
      .waitFor();
    await strip('Landed on main').getByRole('listitem').nth(1).waitFor();
    await strip('Working now').getByRole('progressbar').first().waitFor();
    const picture = join(OUTPUT, 'demo-overview.png');
    await own.screenshot({ path: picture });
    if (process.env.TIDEMILL_PICTURE) copyFileSync(picture, join(OUTPUT, '..', '..', 'docs', 'overview.png'));
  } finally {
    await browser.close();
    await machine.close();
  }
});
