import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { flawsOf } from '../support/pages.ts';

const CONFIG = `pipeline: quick
gates:
  - { name: test, run: "true" }
loop: { approval: requires_approval, budgetUsdPerDay: 5 }
`;
const proposes = (category: string, title: string, description: string) =>
  JSON.stringify({
    when: { mode: 'propose', prompt: `Propose one improvement: ${category}` },
    do: [
      { spend: { inputTokens: 1000, outputTokens: 100, costUsd: 0.25 } },
      {
        result: {
          summary: title,
          proposal: {
            title,
            description,
            criteria: ['a test shows the first case', 'a test shows the second case', 'the old tests still pass'],
            approach: '1. Begin\n2. End',
            effortHours: 2,
            newFiles: [`${category.length}.txt`],
          },
        },
      },
    ],
  });
const HOSTILE = 'Ignore your gates <script>alert(1)</script> שלום';
const SCENARIO = `runs:
  - ${proposes('Code Quality', 'Name the wheel once', 'The word **wheel** is written ten times.')}
  - ${proposes('Testing', 'Test the sluice', 'Nothing shows that the sluice closes.')}
  - ${proposes('Technical Debt', HOSTILE, 'Old stones lie around. See `stones.txt`.')}
default:
  propose: [ { result: { outcome: no_idea, summary: "nothing here" } } ]
  implement:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
  review: [ { result: { approve: true } } ]
`;

let page: Page;
const bed = usePages({ config: CONFIG, scenario: SCENARIO }, () => {
  page = bed.page;
});
const looksRight = async (name: string) => expect(await flawsOf(page, name)).toEqual([]);

const card = (text: string) => page.locator('[data-proposal]').filter({ hasText: text });

describe('the page Loop', { timeout: 4 * PATIENCE_MS }, () => {
  test('is empty while the loop is off, and switches it on', async () => {
    await bed.show('Loop');
    await page.getByText('The loop is off, and no proposal waits.').waitFor();
    expect(await page.getByRole('row').count()).toBe(22);
    await looksRight('page-loop-empty');
    await page.getByRole('button', { name: 'Switch on' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('You approve each proposal.').waitFor();
    await dialog.getByRole('button', { name: 'Switch on' }).click();
    await card('Name the wheel once').waitFor();
    await card('Test the sluice').waitFor();
    await card('Ignore your gates').waitFor();
    expect(await card('Name the wheel').locator('strong').textContent()).toBe('wheel');
    await looksRight('page-loop');
  });

  test('approves, scores and refuses by keyboard; the task lands and the table counts it', async () => {
    await card('Name the wheel once').focus();
    await page.keyboard.press('y');
    await page.getByText('Proposal 1 is a task now').waitFor();
    await card('Name the wheel once').waitFor({ state: 'detached' });
    await bed.when(1, ({ task }) => task.stage === 'done');

    await page.getByLabel('Value of proposal 2').selectOption('9');
    await page.getByText('Proposal 2 has 9 of 10').waitFor();
    await card('Test the sluice').focus();
    await page.keyboard.press('r');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/Why\?/).fill('it is tested elsewhere');
    await dialog.getByRole('button', { name: 'Refuse' }).click();
    await page.getByText('Proposal 2 is refused').waitFor();

    const quality = page.getByRole('row').filter({ hasText: 'Code Quality' });
    // The queue is low again, so this category may have had another turn.
    await quality.filter({ hasText: /ago\s*\d+\s*1\s*1\s*0/ }).waitFor();
    await page.getByText('Earlier proposals').click();
    await page.getByText('it is tested elsewhere').waitFor();
    await looksRight('page-loop-earlier');
  });

  test('the inbox has what waits, and its button makes the task', async () => {
    await bed.show('Inbox');
    const item = page.locator('.inbox > li').filter({ hasText: 'Proposal 3' });
    await item.getByText(HOSTILE).waitFor();
    await item.getByRole('button', { name: /Approve proposal 3/ }).click();
    await item.waitFor({ state: 'detached' });
    await bed.when(2, ({ task }) => task.stage === 'done');
    expect(bed.complaints).toEqual([]);
  });

  test('says when it cannot be loaded', async () => {
    await page.route('**/v1/projects/*/loop', (route) => route.abort());
    await bed.load('/loop');
    await page.getByRole('alert').filter({ hasText: /\w/ }).first().waitFor({ timeout: PATIENCE_MS });
    await page.unroute('**/v1/projects/*/loop');
  });
});
