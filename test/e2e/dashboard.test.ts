import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasBrowser, NO_BROWSER, OUTPUT, PATIENCE_MS } from '../support/browser.ts';
import { PageBed } from '../support/page-bed.ts';
import { showPages } from '../support/pages.ts';

const CONFIG = `workers: 2
pipeline: feature
reviewPlans: true
critical: [ledger.txt]
budget: { dailyUsd: 20 }
gates:
  - { name: test, run: "true" }
`;
const SCENARIO = `runs:
  - when: { task: Raise the wall, mode: implement }
    do:
      - edit: { path: ledger.txt, find: "stones 10", replace: "stones 12" }
      - progress: { percent: 50, text: the wall is higher }
      - run: "{door wall}"
      - result: { summary: two more stones }
  - when: { task: Which grain, mode: implement, attempt: 1 }
    do:
      - ask: { questions: [ { text: "Rye or wheat?", options: [rye, wheat], default: wheat } ] }
  - when: { task: Turn slowly, mode: implement, attempt: 1 }
    do:
      - progress: { percent: 40, text: turning the stones }
      - say: "still turning"
      - hang:
  - when: { task: Buy gold, mode: implement }
    do:
      - write: { path: gold.txt, content: "gold\\n" }
      - spend: { inputTokens: 1000, outputTokens: 200, costUsd: 18.2 }
      - result: { summary: bought }
default:
  plan: [ { result: { plan: "1. Dig.\\n2. Line it with oak.", planSummary: dig and line } } ]
  implement:
    - say: at work
    - write: { path: "work-{taskNumber}.txt", content: "done\\n" }
    - spend: { inputTokens: 100, outputTokens: 20, costUsd: 0.05 }
    - result: { summary: done }
  review: [ { result: { approve: true } } ]
`;

let bed: PageBed;
let page: Page;

const add = (title: string, more: object = {}) => bed.add(title, { pipeline: 'quick', ...more });
/** The stage as shown on the task's own page. */
const stageOnPage = (text: string) => page.locator('.task-head .facts').getByText(text, { exact: true });

const until = (number: number, stage: string) => bed.when(number, ({ task }) => task.stage === stage);

beforeAll(async () => {
  if (!hasBrowser) return;
  bed = await PageBed.open({ config: CONFIG, scenario: SCENARIO, files: { 'ledger.txt': 'stones 10\n' } });
  page = bed.page;
}, 4 * PATIENCE_MS);
beforeEach(({ skip }) => skip(!hasBrowser, NO_BROWSER));
afterAll(() => bed?.close(), PATIENCE_MS);

describe('a person steers the mill from one page', { timeout: 8 * PATIENCE_MS }, () => {
  test('opens the link and sees the work live', async () => {
    await page.goto(bed.daemon.link);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('no tasks yet').waitFor();
    await add('Turn slowly'); // 1
    await page.getByRole('region', { name: 'Working now' }).getByText('40 % turning the stones').waitFor();
    await page
      .locator('[data-stage="implement"]')
      .getByText(/agent-\d/)
      .waitFor();
  });

  test('a question, a plan and a conflict wait for them, on every page', async () => {
    await add('Which grain'); // 2
    await until(2, 'needs_info');
    await add('Plan the sluice', { pipeline: 'feature', accept: ['the sluice is lined with oak'] }); // 3
    await until(3, 'plan_review');
    await add('Raise the wall'); // 4
    // Its change is based on the old main; main moves before the agent ends.
    await bed.when(4, ({ runs }) => runs[0]?.progress?.text === 'the wall is higher');
    bed.repository.write({ 'ledger.txt': 'stones 11\n' });
    bed.repository.git('commit', '-q', '-a', '-m', 'One more stone');
    bed.openDoor('wall');
    await until(4, 'blocked');
    await page.getByRole('region', { name: 'Needs you' }).getByText('a conflict needs you').waitFor();

    const pages = [
      {
        name: 'overview',
        path: '/',
        isPictured: true,
        isThere: (p: Page) => p.getByText('a conflict needs you').first().waitFor(),
      },
      {
        name: 'board',
        path: '/board',
        isPictured: true,
        isThere: (p: Page) => p.getByText('Plan the sluice').first().waitFor(),
      },
      { name: 'task', path: '/tasks/4?tab=change', isThere: (p: Page) => p.getByText('stones 12').first().waitFor() },
      {
        name: 'task-conversation',
        path: '/tasks/2?tab=conversation',
        isThere: (p: Page) => p.getByText('Rye or wheat?').first().waitFor(),
      },
      { name: 'inbox', path: '/inbox', isThere: (p: Page) => p.getByText('Line it with oak').waitFor() },
      { name: 'fleet', path: '/fleet', isThere: (p: Page) => p.getByText('turning the stones').waitFor() },
      { name: 'fleet-compare', path: '/fleet?view=compare', isThere: (p: Page) => p.getByRole('table').waitFor() },
      { name: 'conflicts', path: '/conflicts', isThere: (p: Page) => p.getByText('Raise the wall').waitFor() },
      {
        name: 'conflict',
        path: '/conflicts/4',
        isThere: (p: Page) => p.getByRole('heading', { name: 'Result' }).waitFor(),
      },
      { name: 'memory', path: '/memory', isThere: (p: Page) => p.getByText('Nothing is learned yet.').waitFor() },
      { name: 'loop', path: '/loop', isThere: (p: Page) => p.getByText('Waiting for your yes').first().waitFor() },
      { name: 'costs', path: '/costs', isThere: (p: Page) => p.getByText('Queue', { exact: true }).waitFor() },
      {
        name: 'settings',
        path: '/settings',
        isThere: (p: Page) => p.getByText('claude', { exact: true }).first().waitFor(),
      },
      {
        name: 'api',
        path: '/docs',
        isThere: (p: Page) => p.getByText('/v1/projects/:project/status').or(p.locator('h1')).first().waitFor(),
      },
    ];
    expect(await showPages(bed.browser, bed.daemon.link, pages)).toEqual([]);
  });

  test('answers with a key, approves a plan with a key, and sees it land', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    const question = page.locator('[data-ref="Q2.1"]');
    await question.waitFor();
    await question.focus();
    await page.keyboard.press('1');
    await question.waitFor({ state: 'detached' });
    await until(2, 'done');
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
    await until(4, 'done');
    expect(bed.repository.git('show', 'main:ledger.txt')).toBe('stones 11\nstones 12');
  });

  test('reaches the budget, sees why nothing starts, and raises it in the settings', async () => {
    await bed.visit('/');
    await add('Buy gold'); // 5
    await until(5, 'done');
    await page
      .getByRole('region', { name: 'Spend today' })
      .getByText(/90 %|limit|budget/i)
      .first()
      .waitFor();
    await page.screenshot({ path: join(OUTPUT, 'dashboard-budget.png'), fullPage: true });
    await add('Sweep the floor'); // 6
    await bed.show('Settings');
    const editor = page.getByRole('textbox', { name: 'Config file' });
    const config = await editor.inputValue();
    await editor.fill(config.replace('pipeline: feature', 'pipeline: featur'));
    await page.getByText('Fix the problems first.').waitFor();
    await editor.fill(config.replace('dailyUsd: 20', 'dailyUsd: 49'));
    await page.getByText('config.yaml is valid.').waitFor();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved and committed to main.').waitFor();
    await until(6, 'done');
  });

  test('stops everything at once, and after a kill -9 and a restart everything is still there', async () => {
    await bed.show('Fleet');
    await page.getByRole('button', { name: 'Emergency stop' }).click();
    const dialog = page.getByRole('dialog', { name: 'Stop everything now?' });
    await dialog.getByText('#1 Turn slowly').waitFor();
    await page.screenshot({ path: join(OUTPUT, 'dashboard-emergency.png') });
    await dialog.getByRole('button', { name: 'Stop everything now' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('stopped', { exact: true }).first().waitFor();

    const tasks = async () =>
      (await bed.api.tasks({ project: bed.project })).map(({ number, title, stage }) => ({ number, title, stage }));
    const before = await tasks();
    await bed.kill();
    await page.getByText(/^Offline: the daemon does not respond/).waitFor();
    await bed.start();
    expect(await tasks()).toEqual(before);
    await page.goto(bed.daemon.link);
    await page
      .getByRole('region', { name: 'Activity' })
      .getByText(/emergency/)
      .first()
      .waitFor();
    await bed.visit('/board');
    for (const { title } of before) await page.getByText(title).first().waitFor();
    await bed.visit('/fleet');
    await page.getByRole('button', { name: 'Resume all' }).click();
    await until(1, 'done');
    // The browser logs its failed requests to the dead daemon.
    expect(bed.complaints.filter((text) => !/Failed to load resource|WebSocket/.test(text))).toEqual([]);
  });
});
