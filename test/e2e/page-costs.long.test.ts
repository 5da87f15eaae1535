import type { HistoryView } from '@tidemill/contract';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';

const CONFIG = `workers: 2
pipeline: feature
gates:
  - { name: test, run: "true" }
budget: { dailyUsd: 20, monthlyUsd: 100 }
`;
const SCENARIO = `default:
  plan:
    - spend: { inputTokens: 100, outputTokens: 10, costUsd: 0.4 }
    - result: { plan: "one file", planSummary: "one file" }
  implement:
    - spend: { inputTokens: 1000, outputTokens: 100, costUsd: 1.25 }
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
  review:
    - spend: { inputTokens: 500, outputTokens: 50, costUsd: 0.35 }
    - result: { approve: true }
`;

/** So long the page waits before it tries again. */
const RETRY_MS = 5000;

let page: Page;
const bed = usePages({ config: CONFIG, scenario: SCENARIO, isAlone: true }, () => {
  page = bed.page;
});

const chart = (title: string, of = page) =>
  of.getByRole('figure').filter({ has: of.getByRole('heading', { name: title }) });
const account = (name: string) => page.getByRole('list', { name: 'Budgets' }).locator('> li').filter({ hasText: name });
const history = () => bed.api.history({ project: bed.project, period: '24h' });
const spent = ({ spend }: HistoryView) => spend.reduce((sum, { usd }) => sum + usd, 0);
const doneIn = ({ points }: HistoryView) => points.reduce((sum, point) => sum + point.done, 0);
const done = (number: number) => bed.until(number, 'done');
const dollars = (usd: number) => `$${usd.toFixed(2)}`;

describe('money and metrics', { timeout: 4 * PATIENCE_MS }, () => {
  test('an empty period says so, and shows the budgets', async () => {
    await bed.show('Costs');
    await page.getByText(/^No runs and no tasks in this period/).waitFor();
    await account('All projects').getByText('Today $0.00 of $50').waitFor();
    await account(bed.repository.root.split('/').at(-1)!).getByText('This month $0.00 of $100').waitFor();
    await page.evaluate('window.loadedOnce = true');
  });

  test('after a task is done, the figures on the open page update to those of the API', async () => {
    await done(await bed.add('Grind rye', { accept: ['it is ground'] }));
    await chart('Tasks done').getByText('1 in total').waitFor();
    await chart('Spend').getByText('$2.00 in 3 runs, all projects').waitFor();
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
    await done(await bed.add('Grind wheat', { accept: ['it is ground'] }));
    await chart('Tasks done').getByText('2 in total').waitFor();
    await chart('Queue').getByText('latest 0, waiting or in progress').waitFor();
    await chart('First review passed').getByText('latest 100 %').waitFor();

    const known = await history();
    expect(spent(known)).toBeCloseTo(4);
    await chart('Spend')
      .getByText(`${dollars(spent(known))} in 6 runs`)
      .waitFor();
    await account('All projects')
      .getByText(`Today ${dollars(spent(known))} of $50`)
      .waitFor();
    // Name and sum of each mode, the largest first.
    expect(await chart('Spend').locator('.legend li').allTextContents()).toEqual([
      'implement $2.50',
      'plan $0.80',
      'review $0.70',
    ]);
    await page.getByLabel('Spend', { exact: true }).selectOption('agent');
    await page.waitForURL(/by=agent/);
    await page.getByLabel('Spend', { exact: true }).selectOption('project');
    await page.getByLabel('Period').selectOption('30d');
    await chart('Spend')
      .getByText(`${dollars(spent(known))} in 6 runs`)
      .waitFor();
    await page.reload();
    expect(await page.getByLabel('Period').inputValue()).toBe('30d');
    await page.getByLabel('Period').selectOption('24h');
    await page.getByLabel('Spend', { exact: true }).selectOption('mode');
  });

  test('the values are in a table that the keyboard reaches, and their sum equals that of the API', async () => {
    const summary = chart('Spend').locator('summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    const table = page.getByRole('region', { name: 'Spend, as a table' });
    await table.waitFor();
    await page.keyboard.press('Tab');
    expect(await table.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    const cells = await table.locator('td').allTextContents();
    const sum = cells.reduce((total, cell) => total + Number(cell.replace('$', '')), 0);
    expect(sum).toBeCloseTo(spent(await history()));
    await bed.picture('page-costs', true);
  });

  test('while figures cannot be loaded, the last known ones stay, with their time', async () => {
    const own = await bed.timedPage();
    await own.goto(bed.link);
    await bed.visit('/costs', own);
    await chart('Tasks done', own).getByText('2 in total').waitFor();
    const isHistory = (url: URL) => url.pathname.endsWith('/history');
    await own.route(isHistory, (route) => route.abort());
    await done(await bed.add('Grind oats', { accept: ['it is ground'] }));
    const old = own.getByText(/^Not up to date: figures from \d\d:\d\d:\d\d/);
    await old.waitFor();
    await chart('Tasks done', own).getByText('2 in total').waitFor();
    // The daemon computes these figures only at intervals.
    await expect.poll(async () => doneIn(await history()), { timeout: PATIENCE_MS }).toBe(3);
    await own.unroute(isHistory);
    await own.clock.fastForward(RETRY_MS);
    await chart('Tasks done', own).getByText('3 in total').waitFor();
    await old.waitFor({ state: 'detached' });
    await own.context().close();
  });

  test('the limits of all projects are changed, and an invalid one is shown next to its field', async () => {
    await account('All projects').getByRole('button', { name: 'Edit limits' }).click();
    const dialog = page.getByRole('dialog', { name: 'Limits of all projects together' });
    const [day, month] = [dialog.getByLabel('USD per day'), dialog.getByLabel('USD per month')];
    const save = dialog.getByRole('button', { name: 'Save' });
    const wrong: [string, string][] = [
      ['0', 'a budget is more than 0 USD'],
      ['ten', '“ten” is not an amount'],
      ['', 'is not an amount'],
      ['2000000', 'a budget is at most 1,000,000 USD'],
      ['1e3', '“1e3” is not an amount'],
    ];
    for (const [text, why] of wrong) {
      await day.fill(text);
      await dialog.locator('#dailyUsd-fault').getByText(why).waitFor();
      expect(await day.getAttribute('aria-invalid')).toBe('true');
      expect(await save.isDisabled()).toBe(true);
    }
    await day.fill('30');
    await month.fill('250.50');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await account('All projects')
      .getByText(/^Today \$[\d.]+ of \$30$/)
      .waitFor();
    await account('All projects')
      .getByText(/^This month \$[\d.]+ of \$250\.50$/)
      .waitFor();
    const all = (await bed.api.budget({})).find(({ projectId }) => projectId === 'all');
    expect(all?.limits).toEqual({ dailyUsd: 30, monthlyUsd: 250.5 });
    expect(bed.complaints).toEqual([]);
  });
});
