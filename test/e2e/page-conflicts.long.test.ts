import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';

const ODD = 'ünd <img src=x onerror=alert(1)>.txt';
/** Every file is critical: no agent may resolve its conflicts. */
const CONFIG = `workers: 3
pipeline: quick
critical: ["*.txt"]
source: ["*.txt"]
gates:
  - { name: no-markers, run: "! grep -n '^<<<<<<<' *.txt" }
`;
const SCENARIO = `runs:
  - when: { task: wall }
    do:
      - write: { path: wall.txt, content: "top\\nstones 12\\nmiddle\\nof\\nmore\\nlines\\nthan\\nfour\\nfloor of oak\\n" }
      - write: { path: ${JSON.stringify(ODD)}, content: "by the task <script>alert(1)</script>\\n" }
      - run: "{door go}"
      - result: { summary: raised }
  - when: { task: sluice }
    do:
      - write: { path: sluice one.txt, content: "from the task\\n" }
      - delete: sluice two.txt
      - run: "{door go}"
      - result: { summary: built }
  - when: { task: north }
    do:
      - write: { path: pair.txt, content: "north\\n" }
      - result: { summary: painted }
  - when: { task: south }
    do:
      - write: { path: pair.txt, content: "south\\nside\\nof it\\n" }
      - result: { summary: painted }
  - when: { task: ledger }
    do:
      - append: { path: ledger.txt, content: "task\\n" }
      - run: "{door go}"
      - result: { summary: written }
`;
const BEFORE = {
  'wall.txt': 'top\nstones 10\nmiddle\nof\nmore\nlines\nthan\nfour\nfloor\n',
  [ODD]: 'before both\n',
  'sluice one.txt': 'before\n',
  'sluice two.txt': 'before\n',
  'ledger.txt': 'one\n',
  'pair.txt': 'plain\n',
};
const ON_MAIN = {
  'wall.txt': 'top\nstones 11\nmiddle\nof\nmore\nlines\nthan\nfour\nfloor of clay\n',
  [ODD]: 'by main\n',
  'sluice one.txt': 'from main\n',
  'sluice two.txt': 'from main\n',
  'ledger.txt': 'one\nmain\n',
};
/** A stand-in for the merge editor that keeps both sides, main's first. It has the arguments of VS Code. */
const EDITOR = `#!/bin/sh
while [ "$1" != --merge ]; do shift; done
cat "$2" "$3" > "$5"
`;

let page: Page;
const bed = usePages({ config: CONFIG, scenario: SCENARIO, files: BEFORE }, () => {
  page = bed.page;
});

const files = (of = page) => of.getByRole('navigation', { name: 'Files in conflict' });
const button = (name: string | RegExp, of = page) => of.getByRole('button', { name });
const byHand = (of = page) => of.locator('#by-hand');
const place = (count: number, of: number) => page.getByRole('group', { name: `Place ${count} of ${of}`, exact: true });
const main = (file: string) => bed.repository.git('show', `main:${file}`);

/** Agents that follow their task, each in its own worktree. */
const briefedRuns = async () =>
  (await bed.api.recentEvents({ project: bed.project, types: ['run.briefed'], limit: 50 })).length;

describe('the page Conflicts', { timeout: 4 * PATIENCE_MS }, () => {
  test('all conflicts appear on the open page, with their file counts', async () => {
    await bed.show('Conflicts');
    await page.getByText(/^No conflicts need you/).waitFor();
    await page.evaluate('window.loadedOnce = true');
    for (const title of ['Raise the wall', 'Build the sluice', 'Write the ledger']) await bed.add(title);
    // All three work on the old main; then main moves.
    await expect.poll(briefedRuns, { timeout: PATIENCE_MS }).toBe(3);
    bed.repository.write(ON_MAIN);
    bed.repository.git('commit', '-q', '-a', '-m', 'Meanwhile');
    bed.openDoor('go');
    const row = (title: string) => page.getByRole('listitem').filter({ hasText: title });
    await row('#1 Raise the wall').getByText('2 files').waitFor();
    await row('#2 Build the sluice').getByText('2 files').waitFor();
    await row('#3 Write the ledger').getByText('1 file', { exact: true }).waitFor();
    await page.getByRole('link', { name: /^Conflicts ?3$/ }).waitFor();
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
    expect(await row('#1 Raise the wall').textContent()).toContain(ODD);
  });

  test('a conflict with markers left is not settled, and the page says which files are open', async () => {
    await page.getByRole('link', { name: '#1 Raise the wall' }).click();
    await files().getByText('0 of 2 resolved').waitFor();
    await button(/^Mark resolved/).click();
    const refusal = page.getByRole('status').getByText('2 files are not resolved');
    await refusal.waitFor();
    expect(await refusal.textContent()).toContain('wall.txt: conflict markers remain');
    await button(/^Dismiss: 2 files/).click();
    await bed.until(1, 'blocked');
  });

  test('typed text stays in two tabs with the same file, and one tab shows the change of the other', async () => {
    await button(/^ünd/).click();
    await page.getByText('1 place left to resolve').waitFor();
    await byHand().fill('typed, not saved\n');
    await page.getByText('1 file not saved').waitFor();
    expect(await button(/^Mark resolved/).isDisabled()).toBe(true);

    const other = await bed.context.newPage();
    await other.goto(page.url());
    await other.getByRole('heading', { name: ODD }).waitFor();
    await button("Use main's version", other).click();
    await files(other).getByText('1 of 2 resolved').waitFor();

    const alert = page.getByRole('alert').filter({ hasText: 'was changed in another tab or in the worktree' });
    await alert.waitFor();
    expect(await byHand().inputValue()).toBe('typed, not saved\n');
    expect(await button('Save this as resolved').isDisabled()).toBe(true);
    await page.getByText('Choose which text to keep before saving.').waitFor();
    // Typed text also survives a visit to another page.
    await bed.show('Costs');
    await page.goBack();
    await alert.waitFor();
    expect(await byHand().inputValue()).toBe('typed, not saved\n');
    await button('Keep my text').click();
    await button('Save this as resolved').click();
    await page.getByText('1 file not saved').waitFor({ state: 'detached' });

    // The other tab has no typed text, so it updates.
    await button(/^ünd/, other).click();
    await expect.poll(() => byHand(other).inputValue(), { timeout: PATIENCE_MS }).toBe('typed, not saved\n');
    await other.close();
  });

  test('a conflict that is resolved file by file and marked resolved leaves the list and lands', async () => {
    await button(/^wall/).click();
    await page.getByText('2 places left to resolve').waitFor();
    const save = button('Save this as resolved');
    expect(await save.isDisabled()).toBe(true);
    await page.getByText('Resolve 2 places before saving.').waitFor();
    // In this order: main's, the base, the task's.
    expect(await place(1, 2).locator('pre').allInnerTexts()).toEqual([
      expect.stringContaining('stones 11'),
      expect.stringContaining('stones 10'),
      expect.stringContaining('stones 12'),
    ]);
    await bed.picture('page-conflict', true);
    await place(2, 2).getByRole('button', { name: "Use the task's", exact: true }).click();
    await button('Undo the last choice').click();
    await place(2, 2).getByRole('button', { name: "Use main's", exact: true }).click();
    await place(1, 1)
      .getByRole('button', { name: /^Use both/ })
      .click();
    expect(await byHand().inputValue()).toBe(
      'top\nstones 11\nstones 12\nmiddle\nof\nmore\nlines\nthan\nfour\nfloor of clay\n',
    );
    await save.click();
    await page.getByText('All resolved').waitFor();
    // The text that was typed has nothing of main's: the page says so, and asks before it is settled.
    const missing = page.getByRole('region', { name: 'Changes of main that are missing' });
    await missing.getByText('1 | by main').waitFor();
    await button(/^Mark resolved/).click();
    const dialog = page.getByRole('dialog', { name: 'Drop changes of main?' });
    expect(await dialog.textContent()).toContain(`${ODD}: main added or changed line 1, missing here`);
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
    await bed.until(1, 'blocked');
    await button(/^Mark resolved/).click();
    await dialog.getByRole('button', { name: 'Settle without them' }).click();
    await page.getByRole('heading', { name: /Raise the wall/ }).waitFor();
    await bed.until(1, 'done');
    expect(main('wall.txt')).toBe('top\nstones 11\nstones 12\nmiddle\nof\nmore\nlines\nthan\nfour\nfloor of clay');
    expect(main(ODD)).toBe('typed, not saved');
    await bed.show('Conflicts');
    await page.getByRole('link', { name: '#2 Build the sluice' }).waitFor();
    await page.getByRole('link', { name: '#1 Raise the wall' }).waitFor({ state: 'detached' });
  });

  test('the commands for a terminal are shown, and after them the conflict can be marked resolved', async () => {
    await page.getByRole('link', { name: '#2 Build the sluice' }).click();
    await page.getByText('Use a terminal instead').click();
    const commands = await page.locator('.terminal li code').allInnerTexts();
    expect(commands.join('\n')).toContain('code --wait --merge');
    expect(commands.at(-1)).toContain('tidemill conflicts settle 2');
    const programs = join(bed.machine.folder, 'programs');
    mkdirSync(programs);
    writeFileSync(join(programs, 'code'), EDITOR);
    chmodSync(join(programs, 'code'), 0o755);
    const script = [`PATH='${programs}':$PATH`, ...commands.slice(0, -1)].join('\n');
    const { code, stderr } = await bed.machine.program('sh', ['-ec', script], bed.repository.root);
    expect(code, stderr).toBe(0);
    await button(/^Mark resolved/).click();
    await bed.until(2, 'done');
    expect(main('sluice one.txt')).toBe('from main\nfrom the task');
    expect(main('sluice two.txt')).toBe('from main');
  });

  test('after a conflict is aborted in a dialog that says what happens, its task is open and built again', async () => {
    await bed.show('Conflicts');
    await page.getByRole('link', { name: '#3 Write the ledger' }).click();
    await button('Abort and requeue').click();
    const dialog = page.getByRole('dialog', { name: 'Restart #3?' });
    expect(await dialog.textContent()).toMatch(/goes back to open[\s\S]*newest main[\s\S]*snapshot/);
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
    await bed.until(3, 'blocked');
    await button('Abort and requeue').click();
    await dialog.getByRole('button', { name: 'Restart task' }).click();
    await page.getByRole('heading', { name: /Write the ledger/ }).waitFor();
    await bed.until(3, 'done');
    const about = { project: bed.project, types: ['conflict.aborted' as const], limit: 5 };
    expect((await bed.api.recentEvents(about)).map(({ body }) => body)).toMatchObject([{ by: { name: 'page' } }]);
    const { task } = await bed.api.task({ project: bed.project, task: '3' });
    const moves = await bed.api.recentEvents({ project: bed.project, types: ['task.moved'], limit: 100 });
    const begun = moves.filter(
      ({ body }) => body.type === 'task.moved' && body.taskId === task.id && body.from === 'open',
    );
    expect(begun).toHaveLength(2);
    expect(main('ledger.txt')).toBe('one\nmain\ntask');
    await bed.show('Conflicts');
    await page.getByText(/^No conflicts need you/).waitFor();
    await bed.visit('/conflicts/3');
    await page.getByText(/has no conflict for a person to resolve/).waitFor();
    // The one refusal that a person asked for, and the one above.
    expect(bed.complaints.filter((text) => !/status of 409/.test(text))).toEqual([]);
  });

  test('a coming conflict is on the page, on both cards and on the task, until the larger one has landed', async () => {
    // Nothing lands in a checkout with changes of a person.
    bed.repository.write({ 'wall.txt': 'a change of a person\n' });
    await bed.add('Paint it north');
    await bed.add('Paint it south');
    await bed.show('Conflicts');
    const coming = page.getByRole('region', { name: 'Coming conflicts' });
    await coming.getByText('#4 will conflict with #5 in pair.txt; this one is smaller and will be reworked').waitFor();
    await coming.getByText('Paint it north · Paint it south').waitFor();
    await bed.show('Board');
    await page.getByText('will conflict with #5', { exact: true }).waitFor();
    await page.getByText('will conflict with #4', { exact: true }).waitFor();
    await page.getByRole('link', { name: '#5 Paint it south' }).click();
    const list = page.getByRole('list', { name: 'Coming conflicts' });
    await list.getByText('will conflict with #4 in pair.txt; #4 is smaller and will be reworked.').waitFor();
    bed.repository.git('checkout', '--', 'wall.txt');
    await bed.until(5, 'done');
    await list.waitFor({ state: 'detached' });
  });
});
