import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import type { PageBed } from '../support/page-bed.ts';

const CHUNK = 2_000;

export const column = (page: Page, stage: string) => page.locator(`[data-column="${stage}"]`);
export const card = (page: Page, stage: string, number: number) =>
  column(page, stage).locator(`[data-task="${number}"]`);
export const count = (page: Page, stage: string, text: string) =>
  column(page, stage).locator('.column-count').getByText(text, { exact: true });

interface Many {
  many: number;
  /** The task that all of them wait for. */
  holder: number;
  /** The newest task so far. */
  newest: number;
  /** How many are open so far. */
  open: number;
}

/** Scrolls to the end of the first column, and finds tasks by text and kind. */
export async function findsAmongMany(bed: PageBed, { many, holder, newest, open }: Many): Promise<void> {
  const { api, page, project } = bed;
  const needle = Math.floor(many * 0.77);
  for (let first = 0; first < many; first += CHUNK) {
    const tasks = Array.from({ length: Math.min(CHUNK, many - first) }, (_, index) => ({
      title: first + index === needle ? 'Find the Needle in the hay' : `Grind sack ${first + index + 1}`,
      kind: (first + index) % (many / 10) === 0 ? ('chore' as const) : ('feature' as const),
      after: [holder],
    }));
    await api.importTasks({ project, tasks });
  }
  const all = (many + open).toLocaleString('en-US');
  await count(page, 'open', all).waitFor();
  const list = column(page, 'open').locator('.column-scroll');
  const toEnd = async () => {
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    return card(page, 'open', newest + many).count();
  };
  await expect.poll(toEnd, { timeout: 2 * PATIENCE_MS }).toBe(1);
  expect(await column(page, 'open').locator('[data-task]').count()).toBeLessThan(60);

  await page.getByLabel('Filter by title or number').fill('needle hay');
  await card(page, 'open', newest + needle + 1).waitFor();
  await count(page, 'open', `1 of ${all}`).waitFor();
  expect(page.url()).toContain('filter=needle+hay');
  await page.reload();
  await card(page, 'open', newest + needle + 1).waitFor();
  await page.getByRole('button', { name: /^Clear: “needle hay”/ }).click();
  await page.getByLabel('Filter by kind').selectOption('chore');
  await count(page, 'open', `10 of ${all}`).waitFor();
  await card(page, 'open', newest + 1 + many * 0.9).waitFor();
  await page.getByRole('button', { name: 'Clear: kind chore' }).click();
  await count(page, 'open', all).waitFor();
}
