import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasBrowser, NO_BROWSER, PATIENCE_MS } from '../support/browser.ts';
import { ANSWER, FEEDBACK, MESSAGES, PROPOSALS, scenarioOf } from '../support/mission/whole-story.ts';
import { PageBed } from '../support/page-bed.ts';

/** whole-mission.long.test.ts plays it with eight. */
const TASKS = 2;
const CONFIG = `workers: 3
pipeline: quick
gates: [{ name: test, run: "test -d .tidemill" }]
loop: { approval: requires_approval }
`;

let bed: PageBed;
let page: Page;
beforeAll(async () => {
  if (!hasBrowser) return;
  bed = await PageBed.open({
    config: CONFIG,
    scenario: JSON.stringify(scenarioOf(TASKS)),
    files: { 'hours.txt': '' },
  });
  page = bed.page;
}, 4 * PATIENCE_MS);
afterAll(() => bed?.close(), PATIENCE_MS);

const phase = (name: string) => page.locator('[aria-current="step"]', { hasText: name });
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });

async function say(message: string): Promise<void> {
  await page.getByLabel('Message about I1').fill(message);
  await page.keyboard.press('Enter');
}

test('a person goes from an idea to landed work and to the next proposal in the browser', {
  timeout: 12 * PATIENCE_MS,
}, async ({ skip }) => {
  skip(!hasBrowser, NO_BROWSER);
  // An idea, through four phases, to its brief.
  await bed.show('Ideas');
  await page.getByLabel('What do you have in mind?').fill(MESSAGES[0]);
  await page.keyboard.press('Enter');
  await page.getByText('Who would use this first').first().waitFor();
  await page
    .getByRole('region', { name: /^Question/ })
    .getByRole('button', { name: /Small businesses/ })
    .click();
  await phase('Narrowing').waitFor();
  await say(MESSAGES[1]);
  await phase('Validating').waitFor();
  await say(MESSAGES[2]);
  await phase('Refining').waitFor();
  await say(MESSAGES[3]);
  await phase('Complete').waitFor();

  // Its specification, with one ambiguity that is asked in the inbox.
  await button('Write the specification').click();
  await page.getByRole('heading', { name: /S1/ }).first().waitFor();
  await bed.show('Inbox');
  await page.getByRole('button', { name: new RegExp(ANSWER) }).click();
  await bed.show('Specs');
  await page.getByRole('link', { name: /Opening hours of the gate/ }).click();
  await button(/Approve/)
    .first()
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
  await expect
    .poll(async () => (await bed.api.specs({ project: bed.project }))[0]?.status, { timeout: 4 * PATIENCE_MS })
    .toBe('done');
  await page.getByRole('tab', { name: 'Requirements' }).click();
  await page.getByText('R2').first().waitFor();
  await page.getByText(/^done/).first().waitFor();

  // Feedback becomes a bug that lands.
  await bed.show('Feedback');
  await page.getByLabel('Your feedback').fill(FEEDBACK);
  await page.keyboard.press('Control+Enter');
  await page.getByRole('list', { name: 'Feedback' }).getByText('Begin the list today').waitFor();
  await bed.when(TASKS + 1, ({ task }) => task.stage === 'done');

  // An empty queue: three proposals, one of which is approved and lands.
  await bed.show('Loop');
  await button('Switch on').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click();
  await button(/Approve proposal 3/).waitFor();
  // Agents look for them side by side, so any of them may have the number 1.
  const card = page.locator('[data-proposal]').filter({ hasText: PROPOSALS[0] });
  await card.getByRole('button', { name: /Approve proposal/ }).click();
  await bed.when(TASKS + 2, ({ task }) => task.stage === 'done');
  expect(bed.repository.git('log', '-1', '--format=%s', 'main')).toContain(PROPOSALS[0]);

  // All of it is on the overview.
  await bed.show('Overview');
  await page.locator('[data-stage="open"]').getByRole('link', { name: '2 proposals' }).waitFor();
  expect(bed.complaints).toEqual([]);
});
