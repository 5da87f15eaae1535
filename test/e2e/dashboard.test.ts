import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { LOOKS, showPages } from '../support/pages.ts';
import { addQuick, beginWork, needPerson, PAGES, SCENE } from './dashboard-scene.ts';

let page: Page;
const bed = usePages(SCENE, () => {
  page = bed.page;
});

/** The stage as shown on the task's own page. */
const stageOnPage = (text: string) => page.locator('.task-head .facts').getByText(text, { exact: true });

describe('a person steers the mill from one page', { timeout: 8 * PATIENCE_MS }, () => {
  test('opens the link and sees the work live', async () => {
    await page.goto(bed.link);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('no tasks yet').waitFor();
    await beginWork(bed);
    await page.getByRole('region', { name: 'Working now' }).getByText('40 % turning the stones').waitFor();
    await page
      .locator('[data-stage="implement"]')
      .getByText(/agent-\d/)
      .waitFor();
  });

  test('a question, a plan and a conflict wait for them, on every page', async () => {
    await needPerson(bed);
    await page.getByRole('region', { name: 'Needs you' }).getByText('a conflict needs you').waitFor();
    // Each page in one of the looks; the long tests have all of them. The last page is served apart.
    for (const [index, look] of LOOKS.entries())
      expect(
        await showPages(
          bed,
          PAGES.filter((_, at) => at % 2 === index),
          [look],
        ),
      ).toEqual([]);
    await bed.load('/');
    await page.getByText('live', { exact: true }).waitFor();
  });

  test('answers with a key, approves a plan with a key, and sees it land', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    const question = page.locator('[data-ref="Q2.1"]');
    await question.waitFor();
    await question.focus();
    await page.keyboard.press('1');
    await question.waitFor({ state: 'detached' });
    await bed.until(2, 'done');
    expect((await bed.api.questions({ project: bed.project, all: true, task: 2 }))[0]).toMatchObject({
      answer: { text: 'rye', source: 'user' },
    });

    const plan = page.locator('[data-ref="#3"]');
    await plan.getByText('Line it with oak').waitFor();
    await plan.focus();
    await page.keyboard.press('y');
    await plan.waitFor({ state: 'detached' });
    await bed.visit('/tasks/3');
    await stageOnPage('done').waitFor();
    expect(bed.repository.git('log', '-3', '--format=%s', 'main')).toContain('Plan the sluice');
  });

  test('resolves the conflict, and main keeps both sides', async () => {
    await bed.show('Conflicts');
    await page.getByRole('link', { name: /#4 Raise the wall/ }).click();
    await page.getByText('1 place left to resolve').waitFor();
    await page.getByRole('button', { name: /^Use both/ }).click();
    await page.getByRole('button', { name: 'Save this as resolved' }).click();
    await page.getByText('All resolved').waitFor();
    await page.getByRole('button', { name: /^Mark resolved/ }).click();
    await bed.until(4, 'done');
    expect(bed.repository.git('show', 'main:ledger.txt')).toBe('stones 11\nstones 12');
  });

  test('reaches the budget, sees why nothing starts, and raises it in the settings', async () => {
    await bed.visit('/');
    await addQuick(bed, 'Buy gold'); // 5
    await bed.until(5, 'done');
    await page
      .getByRole('region', { name: 'Spend today' })
      .getByText(/90 %|limit|budget/i)
      .first()
      .waitFor();
    await bed.picture('dashboard-budget', true);
    await addQuick(bed, 'Sweep the floor'); // 6
    await bed.show('Settings');
    const editor = page.getByRole('textbox', { name: 'Config file' });
    const config = await editor.inputValue();
    await editor.fill(config.replace('pipeline: feature', 'pipeline: featur'));
    await page.getByText('Fix the problems first.').waitFor();
    await editor.fill(config.replace('dailyUsd: 20', 'dailyUsd: 49'));
    await page.getByText('config.yaml is valid.').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved and committed to main.').waitFor();
    await bed.until(6, 'done');
  });

  test('stops everything at once, and after a kill -9 and a restart everything is still there', async () => {
    await bed.show('Fleet');
    await page.getByRole('button', { name: 'Emergency stop' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop everything now?' });
    await dialog.getByText('#1 Turn slowly').waitFor();
    await bed.picture('dashboard-emergency');
    await dialog.getByRole('button', { name: 'Stop everything now' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('stopped', { exact: true }).first().waitFor();

    const tasks = async () =>
      (await bed.api.tasks({ project: bed.project })).map(({ number, title, stage }) => ({ number, title, stage }));
    const before = await tasks();
    await bed.kill();
    await page.getByText(/^Offline: the daemon does not respond/).waitFor();
    await bed.revive();
    expect(await tasks()).toEqual(before);
    await page.goto(bed.link);
    await page
      .getByRole('region', { name: 'Activity' })
      .getByText(/emergency/)
      .first()
      .waitFor();
    await bed.load('/board');
    for (const { title } of before) await page.getByText(title).first().waitFor();
    await bed.visit('/fleet');
    await page.getByRole('button', { name: 'Resume all' }).click();
    await bed.until(1, 'done');
    // The browser logs its failed requests to the dead daemon.
    expect(bed.complaints.filter((text) => !/Failed to load resource|WebSocket/.test(text))).toEqual([]);
  });
});
