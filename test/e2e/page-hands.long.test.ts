import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { TemporaryRepository } from './cli-repository.ts';

const CONFIG = `workers: 2
pipeline: quick
gates:
  - { name: test, run: "true" }
`;
const SCENARIO = `runs:
  - when: { task: grain, mode: implement, attempt: 1 }
    do: [ { ask: { questions: [ { text: "Rye or wheat_flour?", options: [Rye, Wheat], default: Rye } ] } } ]
  - when: { task: grain, mode: implement }
    do: [ { run: "{door grain}" }, { result: { summary: ground } } ]
  - when: { task: stones, mode: implement }
    do:
      - run: "{door stones}"
      - write: { path: stones.txt, content: "turned\\n" }
      - result: { summary: turned }
default:
  implement:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
`;
/** So long the page waits before it tries again. */
const RETRY_MS = 5000;
const PAGES = { b: 'Board', i: 'Inbox', f: 'Fleet', c: 'Conflicts', m: 'Costs', s: 'Settings', o: 'Overview' };

let page: Page;
let other: TemporaryRepository;
const bed = usePages({ config: CONFIG, scenario: SCENARIO, isAlone: true }, () => {
  page = bed.page;
});
afterAll(() => other?.remove());

const eventually = <T>(look: () => Promise<T>) => expect.poll(look, { timeout: PATIENCE_MS });
/** The focused element, as a screen reader names it. */
const focused = () =>
  page.locator(':focus').evaluate((at) => {
    const name = at.ownerDocument.getElementById(at.getAttribute('aria-labelledby') ?? '');
    return at.getAttribute('aria-label') ?? (name ?? at).textContent.trim();
  });
const focusedRef = () => page.locator('[data-ref]:focus, [data-ref]:has(:focus)').getAttribute('data-ref');
const item = (ref: string) => page.locator(`[data-ref="${ref}"]`);
const keys = async (...all: string[]) => {
  for (const key of all) await page.keyboard.press(key);
};
const failing = { status: 500, contentType: 'application/json', body: '{}' };

describe('without a mouse', { timeout: 4 * PATIENCE_MS }, () => {
  test('every page opens under its own name, with the focus in it', async () => {
    for (const [key, name] of Object.entries(PAGES)) {
      await keys('g', key);
      await eventually(() => page.title()).toMatch(new RegExp(`^(\\(\\d+\\) )?${name} · `));
      expect(await page.getByRole('main', { name }).count()).toBe(1);
      expect(await page.locator('main:focus, main :focus').count()).toBe(1);
      expect(await page.locator('h1').count()).toBe(1);
    }
  });

  test('a dialog returns the focus, and shows what the daemon refuses', async () => {
    await keys('g', 'b');
    const add = page.getByRole('button', { name: 'Add a task' });
    await add.focus();
    await keys('Enter');
    await page.getByRole('dialog').getByLabel('Title').waitFor();
    await keys('Escape');
    await eventually(focused).toMatch(/^Add a task/);

    await bed.add('Turn the stones');
    await page.route('**/tasks/1', (route) => (route.request().method() === 'PUT' ? route.abort() : route.continue()));
    await bed.visit('/tasks/1');
    await page.getByRole('button', { name: 'Edit' }).focus();
    await keys('Enter');
    const dialog = page.getByRole('dialog', { name: 'Edit #1' });
    await dialog.getByLabel('Title').fill('Turn both stones');
    await keys('Control+Enter');
    await dialog.getByText(/^The daemon .* does not answer/).waitFor();
    await dialog.getByRole('button', { name: /^Dismiss/ }).click();
    await page.unroute('**/tasks/1');
    await keys('Escape');
    await eventually(focused).toBe('Edit');
  });

  test('an answer selects the next question, and a key that is held down answers only one', async () => {
    await keys('g', 'i');
    for (const title of ['Rye grain', 'Wheat grain', 'Any grain']) await bed.add(title);
    for (const ref of ['Q2.1', 'Q3.1', 'Q4.1']) await item(ref).waitFor();
    // Unchanged: an underscore is part of a name.
    await item('Q2.1').getByText('wheat_flour').waitFor();
    const order = await page
      .locator('[data-ref]')
      .evaluateAll((all) => all.map((each) => each.getAttribute('data-ref')));
    await item(order[0]!).focus();
    await page.keyboard.down('.');
    await page.keyboard.down('.');
    await item(order[0]!).waitFor({ state: 'detached' });
    await page.keyboard.down('.');
    await page.keyboard.up('.');
    await eventually(focusedRef).toBe(order[1]);
    await keys('a');
    await page.keyboard.type('Neither');
    await keys('Enter');
    await item(order[1]!).waitFor({ state: 'detached' });
    await eventually(focusedRef).toBe(order[2]);
    expect(await bed.api.questions({ project: bed.project })).toHaveLength(1);
  });

  test('a question whose options are not loaded yet is not treated as something else', async () => {
    const own = await bed.timedPage();
    await own.route('**/questions?*', (route) => route.fulfill(failing));
    await own.route('**/questions', (route) => route.fulfill(failing));
    await own.goto(bed.link);
    await bed.visit('/inbox', own);
    await own.getByText('Retrying automatically').waitFor();
    expect(await own.getByRole('button', { name: /Retry/ }).count()).toBe(0);
    await own.unrouteAll();
    await own.clock.fastForward(RETRY_MS);
    await own.getByRole('button', { name: /Wheat/ }).waitFor();
    await own.context().close();
  });

  test('a button keeps the focus while it acts', async () => {
    await keys('g', 'f');
    await page.getByRole('button', { name: 'Pause agent-1' }).focus();
    await keys('Enter');
    await page.getByRole('button', { name: 'Resume agent-1' }).waitFor();
    expect(await focused()).toBe('Resume agent-1');
    await keys('Enter');
    await page.getByRole('button', { name: 'Pause agent-1' }).waitFor();
    expect(await focused()).toBe('Pause agent-1');
  });

  test('search finds a worker, and a task has the focus again after going back', async () => {
    await keys('/');
    await page.keyboard.type('agent-2');
    await page.getByRole('option', { name: /agent-2/ }).waitFor();
    await keys('Enter');
    await eventually(focused).toBe('agent-2');
    await keys('g', 'b');
    await page.locator('[data-task="1"]').waitFor();
    await keys('j');
    const card = await focused();
    await keys('Enter');
    await page.waitForURL('**/tasks/*');
    await page.goBack();
    await eventually(focused).toBe(card);
  });

  test('everything that a mouse can use can be reached with the Tab key, on every page', async () => {
    for (const path of [
      '/',
      '/board',
      '/tasks/1',
      '/tasks/1?tab=conversation',
      '/inbox',
      '/fleet',
      '/costs',
      '/settings',
    ]) {
      await bed.visit(path);
      await page.locator('main[aria-busy="false"]').waitFor();
      await eventually(() => page.getByText(/^(Loading|Drawing)/).count()).toBe(0);
      // Arrow keys move between tabs, and the m key moves a card.
      const missed = await page
        .locator('button, a[href], input, select, textarea, summary')
        .evaluateAll((all) =>
          all
            .filter((each) => each.tabIndex < 0 && !each.matches('[role="tab"], .card-move'))
            .map((each) => each.outerHTML),
        );
      expect(missed).toEqual([]);
    }
  });

  test('a viewer sees a note where an action would be', async () => {
    const { token } = await bed.api.addToken({ name: 'guest', role: 'viewer' });
    const context = await bed.newContext();
    const theirs = await context.newPage();
    await theirs.goto(`${bed.daemon.url}/?token=${token}`);
    for (const path of ['/board', '/inbox', '/fleet', '/tasks/1']) {
      await bed.visit(path, theirs);
      await theirs.getByText(/You can view this page\. .* needs the role operator/).waitFor();
    }
    expect(await theirs.getByRole('button', { name: 'Edit' }).isDisabled()).toBe(true);
    await context.close();
  });
});

describe('two projects', { timeout: 4 * PATIENCE_MS }, () => {
  const choice = () => page.getByRole('combobox', { name: 'Project' });
  let second = '';

  test('a new project does not replace the page of the first', async () => {
    await bed.visit('/inbox');
    await page.locator('.inbox textarea').first().fill('of the first');
    other = new TemporaryRepository({
      '.tidemill/config.yaml': `target: main\nagents: { default: { type: scripted, script: .tidemill/scenario.yaml } }\n${CONFIG}`,
      '.tidemill/scenario.yaml': SCENARIO,
    });
    second = (await bed.api.attachProject({ root: other.root })).project.id;
    // As when a person returns to the tab.
    await eventually(async () => {
      await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
      return choice().count();
    }).toBe(1);
    expect(await choice().inputValue()).toBe(bed.project);
    expect(page.url()).toContain(`project=${bed.project}`);
    expect(await page.locator('.inbox textarea').first().inputValue()).toBe('of the first');
  });

  test('each has its own address, typed text stays in its project, and the back button works', async () => {
    await bed.api.addTask({ project: second, title: 'Grain of the second' });
    await choice().selectOption(second);
    await page.getByText('Grain of the second').waitFor();
    expect(page.url()).toContain(`/inbox?project=${second}`);
    expect(await page.locator('.inbox textarea').first().inputValue()).toBe('');
    await page.goBack();
    await eventually(() => choice().inputValue()).toBe(bed.project);
    await page.getByText('Grain of the second').waitFor({ state: 'detached' });
    await page.goForward();
    await page.getByText('Grain of the second').waitFor();
    await keys('g', 'o');
    await page.getByRole('region', { name: 'Activity' }).getByText('Grain of the second').first().waitFor();
    expect(await page.getByRole('region', { name: 'Activity' }).getByText('Turn the stones').count()).toBe(0);
  });

  test('a task belongs to one project only, and the page reports an unknown project', async () => {
    await bed.visit(`/tasks/1?tab=conversation&project=${bed.project}`);
    await page.getByRole('heading', { name: /Turn the stones/ }).waitFor();
    await choice().selectOption(second);
    await page.waitForURL(`**/board?project=${second}`);
    await bed.visit('/?project=nobody');
    await page.getByText('The project of this link does not exist here').waitFor();
  });
});

test('a page that opens while the daemon does not respond says so, and continues automatically', {
  timeout: 4 * PATIENCE_MS,
}, async () => {
  const own = await bed.timedPage();
  await own.route('**/v1/projects', (route) => route.fulfill(failing));
  await own.goto(bed.link);
  await own.getByText('Nothing to show until the daemon responds').waitFor();
  await own.locator('.banner').getByText('500').waitFor();
  await own.unrouteAll();
  await own.clock.fastForward(RETRY_MS);
  await own.getByText('live', { exact: true }).waitFor();
  await own.context().close();
  bed.openDoor('stones');
});
