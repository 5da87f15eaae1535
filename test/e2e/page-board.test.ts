import type { Api } from '@tidemill/contract';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { card as cardOn, column as columnOn, count as countOn, findsAmongMany } from './board-suite.ts';

const CONFIG = `workers: 1
pipeline: quick
gates:
  - { name: test, run: "true" }
`;
const SCENARIO = `runs:
  - when: { task: idle hands, mode: implement, attempt: 1 }
    do: [ { lie: {} } ]
  - when: { task: stubborn, mode: implement }
    do: [ { lie: {} } ]
  - when: { task: which grain, mode: implement, attempt: 1 }
    do: [ { ask: { questions: ["Rye or wheat?"] } } ]
  - when: { task: which stone, mode: implement }
    do: [ { ask: { questions: ["Lava or granite?"] } } ]
default:
  implement:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
  request_changes:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
`;

let page: Page;
let api: Api;
let project: string;
const bed = usePages({ config: CONFIG, scenario: SCENARIO }, async () => {
  ({ page, api, project } = bed);
  await bed.show('Board');
});

const column = (stage: string, of = page) => columnOn(of, stage);
const card = (stage: string, number: number, of = page) => cardOn(of, stage, number);
const notice = (text: string | RegExp, of = page) => of.getByRole('status').getByText(text);
const count = (stage: string, text: string) => countOn(page, stage, text);
const dialog = (of = page) => of.getByRole('dialog');

/** Drags with the mouse, as a person does. */
async function carry(from: Locator, to: Locator, of = page): Promise<void> {
  const [start, end] = [(await from.boundingBox())!, (await to.boundingBox())!];
  await of.mouse.move(start.x + 60, start.y + 40);
  await of.mouse.down();
  await of.mouse.move(start.x + 80, start.y + 60, { steps: 2 });
  await of.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 4 });
}

describe('the board', { timeout: 3 * PATIENCE_MS }, () => {
  test('says how to begin, and takes the first task by keyboard only', async () => {
    await page.getByText(/^No tasks yet/).waitFor();
    await page.getByText('tidemill task add').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.keyboard.press('n');
    await page.keyboard.type('Bake bread');
    await page.keyboard.press('Escape');
    await page.reload();
    await page.getByText(/^No tasks yet/).waitFor();
    await page.keyboard.press('n');
    const title = dialog().getByLabel('Title');
    expect(await title.inputValue()).toBe('Bake bread');
    await page.keyboard.press('Enter');
    await page.keyboard.type('In the old oven.');
    await page.keyboard.press('Tab');
    await page.keyboard.type('It is brown');
    await page.keyboard.press('Enter');
    await page.keyboard.type('It smells');
    await dialog().getByText('2 criteria').waitFor();
    await page.keyboard.press('Control+Enter');
    await notice('#1 added').waitFor();
    await card('done', 1).waitFor();
    const { task } = await api.task({ project, task: 1 });
    expect(task).toMatchObject({ title: 'Bake bread', body: 'In the old oven.' });
    expect(task.criteria.map(({ text }) => text)).toEqual(['It is brown', 'It smells']);
  });

  test('says what is wrong with a new task while it is written, and keeps it when the daemon refuses', async () => {
    await page.keyboard.press('n');
    await dialog()
      .getByRole('button', { name: /^Create Ctrl/ })
      .click();
    await dialog().getByText('a task needs a title').waitFor();
    await dialog().getByLabel('Title').fill('x'.repeat(301));
    await dialog().getByText('a title has at most 300 characters').waitFor();
    await dialog().getByLabel('Title').fill('Stay with me');
    await dialog().getByLabel('After').fill('1, soon');
    await dialog().getByText('“soon” is not a task number').waitFor();
    await dialog().getByLabel('After').fill('#999');
    await page.keyboard.press('Control+Enter');
    await dialog().getByText('there is no task #999 to wait for').waitFor();
    expect(await dialog().getByLabel('Title').inputValue()).toBe('Stay with me');
    await dialog().getByRole('button', { name: 'Discard draft' }).click();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  test('updates tasks automatically, with what holds them', async () => {
    await page.evaluate('window.loadedOnce = true');
    await bed.add('Look after idle hands', { priority: 0 });
    await bed.add('Say which grain');
    await bed.add('Be stubborn');
    await bed.add('Say which stone');
    await bed.add('Wait for the stone', { after: [4, 5] });
    await card('blocked', 2).getByText('the agent changed nothing').waitFor();
    await card('needs_info', 3).getByText('Rye or wheat?').waitFor();
    await card('blocked', 4).waitFor();
    await card('needs_info', 5).waitFor();
    await card('open', 6).getByText('after #4, #5').waitFor();
    await card('blocked', 2).getByText('critical').waitFor();
    await count('blocked', '2').waitFor();
    await bed.picture('board-light-1280');
  });

  test('a card is dragged to a stage that its pipeline allows', async () => {
    await carry(card('blocked', 2), column('implement'));
    await column('implement').getByText('starts it again there').waitFor();
    await bed.picture('board-drag');
    await page.mouse.up();
    await notice('#2 moved to implement').waitFor();
    await card('done', 2).waitFor();
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
  });

  test('for other stages, the column says why not, before and after the drop', async () => {
    await carry(card('blocked', 4), column('done'));
    const why = /Tidemill moves it there when it has landed/;
    await column('done').getByText(why).waitFor();
    await column('needs_info').getByText('tasks come here only when an agent asks a question').waitFor();
    await page.mouse.up();
    await notice(why).waitFor();
    await page.getByRole('button', { name: /^Dismiss: #4 cannot move to done/ }).click();
    await card('blocked', 4).waitFor();
    expect((await api.task({ project, task: 4 })).task.stage).toBe('blocked');
  });

  test('lets a card be moved by keyboard, with a note where one is required', async () => {
    await card('needs_info', 3).getByRole('link').focus();
    await page.keyboard.press('m');
    await dialog().getByText('Tidemill moves it there when').first().waitFor();
    expect(await dialog().getByRole('button', { name: 'done' }).isDisabled()).toBe(true);
    await dialog().getByRole('button', { name: 'cancelled' }).focus();
    await page.keyboard.press('Enter');
    await dialog().getByText('#3 Say which grain').waitFor();
    await page.keyboard.press('Escape');
    await card('needs_info', 3).getByRole('link').focus();
    await page.keyboard.press('m');
    await dialog().getByRole('button', { name: 'open' }).focus();
    await page.keyboard.press('Enter');
    await dialog().getByText('Rye or wheat?').waitFor();
    await page.keyboard.type('Rye');
    await page.keyboard.press('Control+Enter');
    await notice('#3 moved to open').waitFor();
    await card('done', 3).waitFor();
    expect((await api.questions({ project, task: '3', all: true })).map(({ answer }) => answer?.text)).toContain('Rye');
  });

  test('selects cards with j, k, h, l, and opens one', async () => {
    await card('needs_info', 5).getByRole('link').focus();
    await page.keyboard.press('l');
    expect(await page.evaluate('document.activeElement.closest("[data-task]").dataset.task')).toBe('4');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/tasks\/4\?/);
    await page.goBack();
    await card('blocked', 4).waitFor();
  });

  test('lets many cards be selected and cancelled at once; refused ones are named', async () => {
    for (const title of ['Sweep one', 'Sweep two', 'Sweep three']) await bed.add(title, { after: [4] });
    await card('open', 7).getByRole('checkbox').check();
    await card('open', 9)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    await card('done', 1).getByRole('link').focus();
    await page.keyboard.press('x');
    const bar = page.getByRole('toolbar');
    await bar.getByText('4 tasks selected').waitFor();
    await bed.picture('board-bulk');
    await bar.getByRole('button', { name: 'Cancel…' }).click();
    await dialog().getByText('#8 Sweep two').waitFor();
    await dialog().getByRole('button', { name: 'Cancel 4 tasks' }).click();
    await dialog().getByText('#1 is done and landed').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Show cancelled tasks' }).click();
    for (const number of [7, 8, 9]) await card('cancelled', number).waitFor();
    await bar.waitFor({ state: 'detached' });
  });

  test('two tabs with opposite actions end with the same state, and the later one gets an error', async () => {
    const other = await bed.context.newPage();
    await bed.load('/board?cancelled=shown', other);
    await card('blocked', 4, other).waitFor();
    await carry(card('blocked', 4), column('implement'));
    await column('implement').getByText('starts it again there').waitFor();

    await card('blocked', 4, other).getByRole('link').focus();
    await other.keyboard.press('m');
    await dialog(other).getByRole('button', { name: 'cancelled' }).click();
    await dialog(other).getByRole('button', { name: 'Cancel task #4' }).click();
    await card('cancelled', 4, other).waitFor();
    await card('cancelled', 4).waitFor();
    await page.mouse.up();
    await notice('#4 is now in cancelled, no longer in blocked').waitFor();
    await page.getByRole('button', { name: /^Dismiss: #4/ }).click();
    for (const tab of [page, other]) {
      await card('cancelled', 4, tab).waitFor();
      expect(await card('implement', 4, tab).count()).toBe(0);
    }
    expect((await api.task({ project, task: 4 })).task.stage).toBe('cancelled');
    await other.close();
  });

  test('shows markup in a title as text', async () => {
    const titles = [
      '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">',
      'abc \u202Edlrow olleh\u202C \u001b[31mred\u001b[0m',
      'x'.repeat(300),
      '年'.repeat(300),
    ];
    for (const title of titles) await bed.add(title, { after: [5] });
    expect(await card('open', 10).locator('bdi').textContent()).toBe(titles[0]);
    expect(await card('open', 11).locator('bdi').textContent()).toBe('abc dlrow olleh red');
    for (const number of [12, 13]) expect(await isWithin(card('open', number))).toBe(true);
    expect(await page.evaluate('window.pwned')).toBeUndefined();
  });

  test('of many tasks, the last is scrolled to, and one is found by its text', async () => {
    await findsAmongMany(bed, { many: 1000, holder: 5, newest: 13, open: 5 });
  });

  test('shows one column at a time on a narrow screen', async () => {
    await page.setViewportSize({ width: 380, height: 800 });
    await page.getByLabel('Stage', { exact: true }).selectOption('needs_info');
    await card('needs_info', 5).getByRole('button', { name: 'Move #5' }).waitFor();
    expect(await page.locator('[data-column]').count()).toBe(1);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await bed.picture(`board-${colorScheme}-380`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(380);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await column('open').waitFor();
    await bed.picture('board-dark-1280');
    expect(bed.complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
  });
});

/** Its content does not overflow its card. */
async function isWithin(locator: Locator): Promise<boolean> {
  await locator.waitFor();
  return locator.evaluate((element) => element.scrollWidth <= element.clientWidth);
}
