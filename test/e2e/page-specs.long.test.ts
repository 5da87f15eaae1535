import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { showPages } from '../support/pages.ts';

const task = (number: number, more: object = {}) => ({
  id: `T${number}`,
  title: `Write part ${number}`,
  phase: number === 1 ? 'database' : 'api',
  files: [`part-${number}.txt`],
  requirements: [number > 2 ? 'R2' : 'R1'],
  dependsOn: number === 1 ? [] : ['T1'],
  accept: [`part-${number}.txt has the text "part"`],
  validate: `test -f part-${number}.txt`,
  estimateMinutes: 10,
  ...more,
});
const DRAFT = {
  title: 'Tide tables',
  summary: 'Tables for **harbours**.',
  requirements: [
    { id: 'R1', text: 'There are tables' },
    { id: 'R2', kind: 'non_functional', text: 'A table takes less than a second' },
  ],
  scope: { in: ['tables'], out: ['maps'] },
  tasks: [task(1), task(2), task(3)],
};
const UNCLEAR = {
  ...DRAFT,
  ambiguities: [{ requirement: 'It is fast', term: 'fast', options: ['a second', 'an hour'] }],
};
const result = (given: object) => [{ result: given }];
const verdict = (requirement: string) => ({ requirement, met: true, evidence: 'part-1.txt:1' });
const SCENARIO = JSON.stringify({
  runs: [
    { when: { mode: 'specify', prompt: 'Shorter' }, do: result({ spec: { ...DRAFT, title: 'Short tables' } }) },
    { when: { mode: 'specify', prompt: 'Answer: a second' }, do: result({ spec: DRAFT }) },
    { when: { mode: 'specify' }, do: result({ spec: UNCLEAR }) },
    { when: { mode: 'judge' }, do: result({ judgement: { requirements: [verdict('R1'), verdict('R2')] } }) },
    {
      when: { mode: 'implement' },
      do: [
        { run: '{door build}' },
        { write: { path: 'part-{taskNumber}.txt', content: 'part\n' } },
        { result: { summary: 'written' } },
      ],
    },
  ],
});

let page: Page;
const CONFIG = 'pipeline: quick\ngates: [{ name: test, run: "true" }]\n';
const bed = usePages({ config: CONFIG, scenario: SCENARIO, files: { 'main.js': '' } }, () => {
  page = bed.page;
});

const tab = (name: string) => page.getByRole('tab', { name: new RegExp(`^${name}`) });
const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
const inDialog = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();

describe('specifications on the page', { timeout: 4 * PATIENCE_MS }, () => {
  test('a specification is requested by keyboard, asks what is unclear, and is written again', async () => {
    await bed.show('Specs');
    await page.getByText('No specifications yet').waitFor();
    await page.keyboard.press('n');
    await page.keyboard.type('Tables that are fast');
    await page.keyboard.press('Control+Enter');
    const question = page.locator('.open-question').filter({ hasText: 'what exactly does "fast" mean' });
    await question.getByRole('button', { name: /a second/ }).click();
    await page.locator('.page-head').getByText('version 2').waitFor();
    await page.locator('.spec-document').locator('strong', { hasText: 'harbours' }).waitFor();
  });

  test('changes are requested on a line, versions are compared', async () => {
    await page.keyboard.press('c');
    await page.getByRole('button', { name: 'Comment on line 1', exact: true }).click();
    await page.getByRole('textbox', { name: 'Comment on line 1', exact: true }).fill('Shorter');
    await inDialog('Request changes');
    await page.locator('.page-head').getByText('Short tables').waitFor();
    await tab('Versions').click();
    await page.locator('.diff-lines').getByText('# Short tables').first().waitFor();
    await page
      .locator('.spec-versions li')
      .filter({ hasText: /^version 2/ })
      .getByRole('button', { name: 'Read' })
      .click();
    await page.getByText('This is version 2. Version 3 is the current one.').waitFor();
    await tab('Document').click();
    await page.getByText('on line 1: # Tide tables').waitFor();
    await bed.visit('/specs/1');
  });

  test('requirements and the graph of tasks are shown, and the specification is approved, built and done', async () => {
    await page.locator('.page-head').getByText('version 3').waitFor();
    await page.keyboard.press('2');
    await page.locator('.requirements li').filter({ hasText: 'R2' }).getByText('non-functional').waitFor();
    await page.keyboard.press('3');
    await page.getByRole('region', { name: 'Tasks of S1, in the order of building' }).locator('.node').nth(2).waitFor();
    await page.locator('.spec-tasks').getByText('readiness 100').first().waitFor();
    await press('Approve');
    await inDialog('Approve');
    await page.locator('.page-head').getByText('approved by').waitFor();
    await page.locator('.spec-tasks').getByText('#1').waitFor();
    bed.openDoor('build');
    await page.keyboard.press('2');
    await expect.poll(() => page.locator('.requirements h3 .landed').count(), { timeout: 2 * PATIENCE_MS }).toBe(2);
    await page
      .locator('.requirements')
      .getByText(/gates passed:.*test/)
      .first()
      .waitFor();
    await page.locator('.page-head').getByText('done').waitFor();
  });

  test('a specification that does not exist is reported, and another one is rejected', async () => {
    await bed.visit('/specs/99');
    await page.getByText('There is no such specification as S99').waitFor();
    await bed.api.newSpec({ project: bed.project, by: 'ada', text: 'Answer: a second' });
    await bed.visit('/specs/2');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await press('Reject');
    await inDialog('Reject');
    await page.locator('.page-head').getByText('rejected').waitFor();
    await bed.show('Specs');
    await expect.poll(() => page.locator('.specs > li').count()).toBe(2);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.locator('.spec-page').waitFor();
  });

  test('both pages are accessible in both themes and widths', async () => {
    const flaws = await showPages(bed, [
      {
        name: 'specs',
        path: '/specs',
        isThere: (shown) => shown.locator('.specs > li').first().waitFor(),
      },
      {
        name: 'spec',
        path: '/specs/1',
        isThere: (shown) => shown.locator('.spec-document h4').first().waitFor(),
      },
      {
        name: 'spec-tasks',
        path: '/specs/1?tab=tasks',
        isThere: (shown) => shown.locator('.spec-tasks li').first().waitFor(),
      },
      {
        name: 'spec-requirements',
        path: '/specs/1?tab=requirements',
        isThere: (shown) => shown.locator('.requirements li').first().waitFor(),
      },
    ]);
    expect(flaws).toEqual([]);
    expect(bed.complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });
});
