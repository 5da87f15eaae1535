import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { showPages } from '../support/pages.ts';

const SCENARIO = `runs:
  - when: { mode: analyse, prompt: "Answer: The sum" }
    do:
      - result:
          analysis: { kind: bug, title: Count an empty list as 0, body: "See **sum.txt**.", criteria: [it is 0], files: [sum.txt] }
  - when: { mode: analyse, prompt: "> It is wrong" }
    do:
      - ask:
          questions:
            - text: Which result is wrong?
              options: [{ label: The sum, implications: A small change. }, { label: The average, implications: Also changes reports. }]
  - when: { mode: analyse, prompt: "> why" }
    do: [ { result: { analysis: { kind: question, title: Why it is so, answer: "Because of *rounding*." } } } ]
  - when: { mode: analyse, prompt: "> Broken" }
    do: [ { result: { outcome: analysed } } ]
  - when: { mode: implement }
    do: [ { write: { path: sum.txt, content: "0" } }, { result: {} } ]
`;

let page: Page;
const bed = usePages({ config: 'gates: [{ name: test, run: "true" }]\n', scenario: SCENARIO }, () => {
  page = bed.page;
});

const field = () => page.getByLabel('Your feedback');
const row = (name: string | RegExp) =>
  page.getByRole('list', { name: 'Feedback' }).getByRole('listitem').filter({ hasText: name });

describe('the page Feedback', { timeout: 4 * PATIENCE_MS }, () => {
  test('starts empty; a key opens the page and another the field', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.getByText('No feedback yet. Write the first above.').waitFor();
    await page.keyboard.press('n');
    expect(await field().evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await field().fill('x'.repeat(20_001));
    await page.getByText('feedback has at most 20,000 characters', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  });

  test('vague feedback is asked about once, and the answer makes a bug that lands', async () => {
    await field().fill('It is wrong');
    await page.keyboard.press('Control+Enter');
    await row('It is wrong').getByText('waits for your answer').waitFor();
    expect(await field().inputValue()).toBe('');
    await row('It is wrong').getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Which result is wrong?' }).waitFor();
    await page.getByText('Also changes reports.').waitFor();
    await page.getByRole('button', { name: 'The sum' }).click();
    await page.getByRole('heading', { name: 'Filed as bug' }).waitFor();
    await page.locator('strong', { hasText: 'sum.txt' }).waitFor();
    await page.getByRole('heading', { name: 'F1 Count an empty list as 0' }).waitFor();
    await bed.when(1, ({ task }) => task.stage === 'done');
    await page.locator('.feedback section').getByRole('link', { name: '#1' }).click();
    await page.getByRole('heading', { name: 'Count an empty list as 0' }).waitFor();
  });

  test('a question is answered, a failure says why and can be tried again, and another is dismissed', async () => {
    await bed.show('Feedback');
    await field().fill('why is it so?');
    await page.getByRole('button', { name: 'Send' }).click();
    await row('Why it is so').getByText('answered').waitFor();
    await row('Why it is so').getByRole('link').first().click();
    await page.locator('em', { hasText: 'rounding' }).waitFor();
    await bed.show('Feedback');
    await field().fill('Broken: مرحبا');
    await page.getByRole('button', { name: 'Send' }).click();
    await row('Broken').getByText('could not be analysed').waitFor();
    await row('Broken').getByRole('link').first().click();
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await page.getByRole('button', { name: 'Dismiss', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss', exact: true }).click();
    await page.locator('.page-head').getByText('dismissed').waitFor();
    await bed.visit('/feedback/99');
    await page.getByText(/^Feedback F99 does not exist/).waitFor();
    await bed.visit('/settings#routing');
    await page.getByRole('row', { name: /feedback.given analyst/ }).waitFor();
    await bed.show('Feedback');
    await field().waitFor();
  });

  test('in both themes and widths nothing is too wide, and axe finds nothing', async () => {
    const there = (text: string) => (shown: Page) => shown.getByText(text, { exact: false }).first().waitFor();
    const pages = [
      { name: 'feedback', path: '/feedback', isThere: there('Count an empty list') },
      { name: 'feedback-one', path: '/feedback/1', isThere: there('Filed as bug') },
      { name: 'routing', path: '/settings#routing', isThere: there('feedback.given') },
    ];
    expect(await showPages(bed, pages)).toEqual([]);
    expect(bed.complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });
});
