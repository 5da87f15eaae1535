import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openFolderStore } from '../../packages/daemon/src/assembly/store-address.ts';
import { openDataFolder } from '../../packages/daemon/src/config/data-folder.ts';
import { PATIENCE_MS } from '../support/browser.ts';
import { MARKDOWN } from '../support/markdown-text.ts';
import { usePages } from '../support/page-bed.ts';
import { flawsOf } from '../support/pages.ts';

const CONFIG = `workers: 2
learning: { reflection: { enabled: false } }
reviewPlans: true
budget: { dailyUsd: 4, monthlyUsd: 100 }
gates:
  - { name: test, run: "true" }
`;
const asks = (title: string, question: string) => `
  - when: { task: ${title}, mode: implement, attempt: 1 }
    do: [ { ask: { questions: [ ${question} ] } } ]`;
const SIGN = { text: 'Paint **Mill** or `Moulin`?\n\n- the first is short\n- the second is old', default: 'Mill' };
const SCENARIO = `runs:
  - when: { task: sign, mode: plan }
    do: [ ${JSON.stringify({ result: { plan: MARKDOWN, planSummary: 'By hand' } })} ]
  - when: { task: painter, mode: implement, attempt: 1 }
    do: [ ${JSON.stringify({ ask: { questions: [{ ...SIGN, context: MARKDOWN }] } })} ]
  - when: { task: almanac, mode: plan }
    do: [ { result: { plan: "1. Read the tide table", planSummary: "From the table" } } ]
  - when: { task: almanac, mode: plan_revision }
    do: [ { result: { plan: "1. Read the tide table twice", planSummary: "From the table" } } ]
  - when: { task: idle hands, mode: implement, feedback: false }
    do: [ { lie: {} } ]
  - when: { task: costly, mode: implement }
    do:
      - spend: { inputTokens: 1000, outputTokens: 100, costUsd: 2.5 }
      - write: { path: "costly.txt", content: "gold\\n" }
      - result: { summary: gilded }${asks('grain', '{ text: "Rye or wheat?", options: [Rye, Wheat] }')}${asks(
        'name',
        '{ text: "What is the mill called?" }',
      )}${asks('colour', '{ text: "Which colour has the wheel?", default: "oak brown" }')}${asks(
        'door',
        '{ text: "Left or right hinge?", options: [Left, Right], default: Left }',
      )}${asks('roof', '{ text: "Slate or thatch?", default: slate }')}${asks('window', '{ text: "How many panes?" }')}
default:
  implement:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
  request_changes:
    - write: { path: "task-{taskNumber}.txt", content: "changed\\n" }
    - result: { summary: changed }
  review: [ { result: { approve: true } } ]
`;

let page: Page;
const bed = usePages({ config: CONFIG, scenario: SCENARIO }, () => {
  page = bed.page;
});

const item = (text: string | RegExp) => page.locator('.inbox > li').filter({ hasText: text });
const quick = (title: string) => bed.add(title, { pipeline: 'quick' });
const gone = (text: string | RegExp) => item(text).waitFor({ state: 'detached' });
async function answerTo(task: number): Promise<string | undefined> {
  const [question] = await bed.api.questions({ project: bed.project, task, all: true });
  return question?.answer?.text;
}
const looksRight = async (name: string) => expect(await flawsOf(page, name)).toEqual([]);
/** The item that keys act on. */
const focus = (text: string) => item(text).first().focus();

describe('the inbox', { timeout: 4 * PATIENCE_MS }, () => {
  test('says that it is empty; then a question appears and is answered with the key of an option', async () => {
    await bed.show('Inbox');
    await page.getByText("You're all caught up").waitFor();
    const number = await quick('Grind the grain');
    await item('Rye or wheat?').waitFor();
    await item('Rye or wheat?').getByText('question, blocks work').waitFor();
    await page
      .getByRole('link', { name: /^Inbox/ })
      .locator('.badge')
      .waitFor();
    await focus('Rye or wheat?');
    await page.keyboard.press('2');
    await gone('Rye or wheat?');
    expect(await answerTo(number)).toBe('Wheat');
  });

  test('sends a written answer, and keeps the text until it was sent', async () => {
    const number = await quick('Give it a name');
    await item('What is the mill called?').waitFor();
    await focus('What is the mill called?');
    await page.route('**/answer', (route) => route.abort());
    await page.keyboard.press('a');
    const box = item('What is the mill called?').getByRole('textbox');
    await box.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('The <b>old</b> mill');
    await page.keyboard.press('Enter');
    await page.locator('.toast.wrong').waitFor();
    expect(await box.inputValue()).toBe('The <b>old</b> mill');
    await page.unroute('**/answer');
    await box.press('Enter');
    await gone('What is the mill called?');
    expect(await answerTo(number)).toBe('The <b>old</b> mill');
  });

  test('chooses the default with one key', async () => {
    const number = await quick('Choose a colour');
    await item('Which colour has the wheel?').getByText('oak brown').waitFor();
    await focus('Which colour has the wheel?');
    await page.keyboard.press('.');
    await gone('Which colour has the wheel?');
    expect(await answerTo(number)).toBe('oak brown');
  });

  test('a question that is answered elsewhere disappears', async () => {
    const number = await quick('Make a window');
    await item('How many panes?').waitFor();
    await item('How many panes?').getByRole('textbox').fill('six');
    const [question] = await bed.api.questions({ project: bed.project, task: number });
    await bed.api.answerQuestion({ project: bed.project, question: question!.id, text: 'four', by: 'bob' });
    await gone('How many panes?');
    expect(await answerTo(number)).toBe('four');
  });

  test('answers all questions with a default, after the person has seen them', async () => {
    const door = await quick('Hang the door');
    const roof = await quick('Cover the roof');
    await item('Left or right hinge?').waitFor();
    await item('Slate or thatch?').waitFor();
    await page.getByRole('button', { name: 'Answer all with defaults' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Left or right hinge? Left').waitFor();
    await dialog.getByText('Slate or thatch? slate').waitFor();
    await bed.picture('inbox-defaults');
    await dialog.getByRole('button', { name: 'Answer all' }).click();
    await gone('Left or right hinge?');
    await gone('Slate or thatch?');
    expect([await answerTo(door), await answerTo(roof)]).toEqual(['Left', 'slate']);
  });

  test('a plan is sent back with a note, then approved', async () => {
    const number = await bed.add('Write the almanac', { accept: ['It has tides'] });
    const plan = item('Write the almanac');
    await plan.getByText('Read the tide table').waitFor();
    expect(await plan.getByRole('button', { name: 'Request changes' }).isDisabled()).toBe(true);
    await plan.getByRole('textbox').fill('Read it twice');
    await plan.getByRole('button', { name: 'Request changes' }).click();
    await plan.getByText('Read the tide table twice').waitFor();
    await bed.picture('inbox-plan', true);
    await focus('Write the almanac');
    await page.keyboard.press('y');
    await gone('Write the almanac');
    await expect
      .poll(async () => (await bed.api.task({ project: bed.project, task: number })).task.stage, {
        timeout: PATIENCE_MS,
      })
      .toBe('done');
  });

  test('Markdown reads like a document, and nothing in it comes alive', async () => {
    const number = await bed.add('Hang the sign', { accept: ['It **hangs**'], body: MARKDOWN });
    const plan = item('Hang the sign').locator('.plan');
    await plan.getByRole('heading', { name: 'The sign', level: 4 }).waitFor();
    await plan.getByRole('heading', { name: 'Steps', level: 5 }).waitFor();
    await plan.locator('.hljs-keyword', { hasText: 'export' }).waitFor();
    await plan.getByRole('cell', { name: '45' }).waitFor();
    await plan.getByText('not done: back').waitFor();
    const link = plan.getByRole('link', { name: 'https://example.org/signs' });
    expect(await link.getAttribute('rel')).toContain('noopener');
    await plan.locator('p:dir(ltr)', { hasText: 'Two coats' }).waitFor();
    await plan.locator('p:dir(rtl)', { hasText: 'השלט' }).waitFor();
    for (const shown of ['<script>window.pwned = 1</script>', 'javascript:window.pwned=1', '(to evil.example)'])
      await plan.getByText(shown).waitFor();
    await plan.getByText('desrever [U+202E]too').waitFor();
    expect(await plan.locator('img, script, style, [id], [href^=javascript], [href^=data]').count()).toBe(0);

    await quick('Ask the painter');
    const asked = item('Ask the painter');
    await asked.getByRole('heading', { name: 'Paint Mill or Moulin?', level: 3 }).locator('code').waitFor();
    await asked.getByRole('listitem').getByText('the second is old').waitFor();
    await looksRight('inbox-markdown');
    await bed.visit(`/tasks/${number}?tab=criteria`);
    await page.getByRole('heading', { name: 'The sign', level: 4 }).nth(1).waitFor();
    await looksRight('task-markdown');
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    expect(bed.requested.filter((url) => !url.startsWith(bed.daemon.url))).toEqual([]);
  });

  test('a megabyte of Markdown is rendered in part, the rest on demand; without its script it is as written', async () => {
    const plan = `${MARKDOWN}\n${'- *one* [two](https://example.org)\n'.repeat(30_000)}the end`;
    await page.route(/\/v1\/.*\/tasks\/\d+$/, async (route) => {
      const answer = await route.fetch();
      const { task, ...more } = await answer.json();
      await route.fulfill({ response: answer, json: { task: { ...task, plan, body: '' }, ...more } });
    });
    await page.reload();
    await page.getByRole('heading', { name: 'The sign', level: 4 }).waitFor();
    const before = Date.now();
    await page
      .getByRole('button', { name: /^Show the other .* as plain text$/ })
      .first()
      .click();
    await page.getByRole('region', { name: 'The rest as plain text' }).waitFor();
    expect(Date.now() - before).toBeLessThan(PATIENCE_MS / 3);
    expect(await page.evaluate('document.querySelectorAll("main *").length')).toBeLessThan(8000);
    await page.unroute(/\/v1\/.*\/tasks\/\d+$/);
    await page.route('**/markdown-body-*.js', (route) => route.abort());
    await page.reload();
    await page.getByText('### Steps').first().waitFor();
    await page.unroute('**/markdown-body-*.js');
    await bed.show('Inbox');
    await page.reload();
  });

  test('an escalation is tried again with a note for the next run', async () => {
    const number = await quick('Look after idle hands');
    const stuck = item('Look after idle hands');
    await stuck.getByText('escalation, blocks work').waitFor();
    await stuck.getByRole('textbox').fill('Write a file this time');
    await stuck.getByRole('button', { name: 'Retry' }).click();
    await gone('Look after idle hands');
    await expect
      .poll(async () => (await bed.api.task({ project: bed.project, task: number })).task.stage, {
        timeout: PATIENCE_MS,
      })
      .toBe('done');
  });

  test('alerts are acknowledged one by one with a key, and all at once', async () => {
    await quick('Gild it, which is costly');
    const alerts = page.locator('.inbox > li').filter({ hasText: /^alert/ });
    await item(/of the daily budget/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: /^alerts/ }).click();
    expect(page.url()).toContain('kind=alert');
    await bed.picture('inbox-alerts', true);
    const refs = await alerts.evaluateAll((all) => all.map((each) => each.getAttribute('data-ref')));
    await alerts.first().focus();
    await page.keyboard.press('y');
    await page.locator(`[data-ref="${refs[0]}"]`).waitFor({ state: 'detached' });
    if ((await alerts.count()) > 0) await page.getByRole('button', { name: 'Acknowledge all alerts' }).click();
    await page.getByText('No alert right now.').waitFor();
    const left = await bed.api.inbox({ project: bed.project });
    expect(left.filter(({ kind }) => kind === 'alert')).toEqual([]);
  });

  test('an alert has a button that does what it proposes, in the inbox and above other pages', async () => {
    const { store } = await openFolderStore(openDataFolder(bed.machine.env), bed.machine.env);
    const about = { projectId: bed.project, taskId: null, kind: 'baseline_red', subject: 'test' } as const;
    await store.execute({ type: 'alert.raise', ...about, severity: 'error', text: 'main itself fails test.' });
    await store.close();
    const inbox = page.url();
    await page.goto(new URL('/', inbox).href);
    const banner = page.getByRole('region', { name: 'Alerts' });
    await banner.getByRole('button', { name: 'Add a repair task' }).click();
    await page.getByText('Add a repair task: done').waitFor();
    await page.goto(inbox);
    await item(/main itself fails/)
      .getByRole('button', { name: 'Add a repair task' })
      .waitFor();
    const tasks = await bed.api.tasks({ project: bed.project });
    expect(tasks.map(({ title }) => title)).toContain('Repair main: test');
    await bed.api.acknowledge({ project: bed.project, by: 'ada' });
    await gone(/main itself fails/);
  });

  test('fits 380 px in the dark theme, and the page reported no error', async () => {
    await quick('Name the window with a colour and a grain');
    await page.getByRole('button', { name: /^all/ }).click();
    await page.setViewportSize({ width: 380, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await bed.picture('inbox-dark-380', true);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(380);
    expect(bed.complaints.filter((text) => !text.includes('ERR_FAILED'))).toEqual([]);
  });
});
