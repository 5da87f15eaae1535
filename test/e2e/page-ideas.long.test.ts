import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { showPages } from '../support/pages.ts';

const artifact = (type: string) =>
  `{ type: ${type}, summary: "The **${type}** of it", content: "A long text about the ${type}, with enough words to be clear", confidence: 0.8 }`;
const SCENARIO = `runs:
  - when: { mode: ideate, prompt: "مرحبا" }
    do: [ { result: { ideation: { reply: "مرحبا بك" } } } ]
  - when: { mode: ideate, prompt: "nothing works" }
    do: [ { fail: "the model is down" } ]
  - when: { mode: ideate, prompt: "On a phone" }
    do: [ { result: { ideation: { reply: "A phone, then.", signals: { artifacts: [${artifact('problem')}] } } } } ]
  - when: { mode: ideate, prompt: "harbours" }
    do:
      - say: "Who reads the **table**?"
      - run: "{door reply}"
      - result:
          ideation:
            reply: "Who reads the **table**?"
            signals:
              artifacts: [${artifact('target-user')}, ${artifact('problem')}, ${artifact('solution-concept')}]
              decisions: [{ type: validation, text: Ten people asked for it }]
              risks: [{ text: Fog, severity: high }]
              confidence: 0.4
`;

let page: Page;
const bed = usePages({ config: '', scenario: SCENARIO }, () => {
  page = bed.page;
});

const idea = (number = 1) => bed.api.idea({ project: bed.project, idea: String(number) });
const message = (text: string) => page.locator('.message').filter({ hasText: text });
const signal = (name: string) => page.locator('.signal').filter({ hasText: name });

describe('ideas on the page', { timeout: 4 * PATIENCE_MS }, () => {
  test('an idea begins, and its reply is read while it is written', async () => {
    await bed.show('Ideas');
    await page.getByText('No ideas yet').waitFor();
    await page.keyboard.press('n');
    await page.keyboard.type('A tide table for harbours');
    await page.keyboard.press('Enter');
    await message('A tide table for harbours').waitFor();
    await page.locator('[data-writing]').filter({ hasText: 'Who reads the **table**?' }).waitFor();
    await page.getByText('A message sent now is answered in the next reply').waitFor();
    await page.getByLabel('Message about I1').fill('On a phone');
    await page.keyboard.press('Enter');
    await message('On a phone').waitFor();
    bed.openDoor('reply');
    // The reply is Markdown once it is complete, and the queued message gets its own.
    await message('Who reads the table?').locator('strong', { hasText: 'table' }).waitFor();
    await message('A phone, then.').waitFor();
    expect((await idea()).messages.map(({ role }) => role)).toEqual(['person', 'person', 'agent', 'agent']);
  });

  test('a blocking question keeps the phase; answered beside the chat, the idea goes on', async () => {
    const question = page.getByRole('region', { name: /^Question/ }).filter({ hasText: 'Who would use this first' });
    await question.getByText('keeps the idea in its phase').waitFor();
    await page.locator('[aria-current="step"]', { hasText: 'Exploring' }).waitFor();
    await question.getByRole('button', { name: /Small businesses/ }).click();
    await page.locator('[aria-current="step"]', { hasText: 'Narrowing' }).waitFor();
  });

  test('signals are corrected and removed, and stay so after the next reply', async () => {
    await signal('Fog')
      .getByRole('button', { name: /^Remove/ })
      .click();
    await signal('Fog').waitFor({ state: 'detached' });
    await signal('problem')
      .getByRole('button', { name: /^Correct/ })
      .click();
    await page.getByLabel('Summary').fill('Nobody knows the tide');
    await page.getByRole('button', { name: 'Save' }).click();
    await signal('Nobody knows the tide')
      .getByText(/wrote it/)
      .waitFor();
    const { messageCount } = (await idea()).idea;
    await page.getByLabel('Message about I1').fill('On a phone, again');
    await page.keyboard.press('Enter');
    await expect.poll(async () => (await idea()).idea.messageCount, { timeout: PATIENCE_MS }).toBe(messageCount + 2);
    const { idea: after } = await idea();
    expect(after.risks).toEqual([]);
    expect(after.artifacts.find(({ type }) => type === 'problem')?.summary).toBe('Nobody knows the tide');
  });

  test('a message that is too long cannot be sent, and a failed reply can be retried', async () => {
    const field = page.getByLabel('Message about I1');
    await field.fill('x'.repeat(1_000_000));
    await page.getByText('a message has at most 20,000').waitFor();
    expect(await page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await field.fill('nothing works');
    await page.keyboard.press('Enter');
    await page.getByText('No reply: the model is down').waitFor();
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await bed.visit('/ideas/99');
    await page.getByText('there is no idea I99').waitFor();
  });

  test('an idea is paused, resumed, forked and archived, several at once, with right-to-left text', async () => {
    await bed.visit('/ideas');
    await page.getByLabel('What do you have in mind?').fill('مرحبا بالموانئ');
    await page.keyboard.press('Enter');
    await message('مرحبا بك').waitFor();
    await message('مرحبا بك').locator('p:dir(rtl)').first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('This idea is paused').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByLabel('Message about I2').waitFor();
    await page.getByRole('button', { name: 'Fork' }).click();
    await page.getByText('continues').waitFor();
    await page.getByRole('button', { name: 'Archive' }).click();
    await page.getByText('This idea is archived').waitFor();
    // A question in the inbox leads to its idea.
    await bed.show('Inbox');
    await page.locator('.inbox').getByRole('link', { name: 'I2' }).first().click();
    await page.getByLabel('Message about I2').waitFor();
    await bed.show('Ideas');
    await expect.poll(() => page.locator('.ideas > li').count(), { timeout: PATIENCE_MS }).toBe(2);
    await page.getByRole('button', { name: 'Show archived' }).click();
    await expect.poll(() => page.locator('.ideas > li').count(), { timeout: PATIENCE_MS }).toBe(3);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.locator('.phases').waitFor();
  });

  test('both pages are accessible in both themes and widths', async () => {
    const flaws = await showPages(bed, [
      {
        name: 'ideas',
        path: '/ideas',
        isThere: (shown) => shown.locator('.ideas > li').first().waitFor(),
      },
      {
        name: 'idea',
        path: '/ideas/1',
        isThere: (shown) => shown.locator('.signal').first().waitFor(),
      },
    ]);
    expect(flaws).toEqual([]);
    expect(bed.complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });
});
