import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { showPages } from '../support/pages.ts';

const CONFIG = `workers: 2
source: ["*.txt"]
gates:
  - { name: test, run: "echo checking; echo 12 passing" }
  - { name: lint, kind: scan, severity: warn, run: "if test -e end.txt; then cat lint.json; exit 1; else echo []; fi" }
`;
/** What a scanner found: a hostile title among it. */
const FOUND = (title: string) =>
  JSON.stringify([{ severity: 'high', id: 'no-eval', message: title, file: 'src/mill.ts', line: 3 }]);

const HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';
/** An agent's output: tool calls between other text. */
const SAID = [
  'Looking at it first.',
  '> Bash: npm test',
  '  12 passing',
  '! lint: 1 finding',
  HOSTILE,
  '\u001b[31mred\u001b[0m \u202ereversed',
  'half way',
].join('\n');
const step = (value: unknown) => `      - ${JSON.stringify(value)}\n`;
const SCENARIO = `runs:
  - when: { task: flour, mode: plan }
    do:
${step({ result: { plan: 'Dress the stones, then grind.', planSummary: 'Two steps.', subtasks: ['Dress the stones'] } })}
  - when: { task: flour, mode: implement }
    do:
${step({ say: SAID })}${step({ progress: { percent: 40, text: 'turning the stones' } })}
${step({ spend: { inputTokens: 1200, outputTokens: 340, costUsd: 0.42 } })}${step({ run: '{door flour}' })}
${step({ run: "mv old-name.txt new-name.txt; printf 'no newline' > end.txt; printf 'a\\000b' > picture.bin" })}
${step({ write: { path: 'src/<img src=x onerror=window.pwned=1>.txt', content: `${HOSTILE}\n` } })}
${step({ result: { summary: 'grinds finer' } })}
  - when: { task: which grain, mode: implement, attempt: 1 }
    do: [ { ask: { questions: [ { text: "Rye or wheat?", options: [Rye, Wheat], default: Rye } ] } } ]
  - when: { task: which grain, mode: implement, attempt: 2 }
    do: [ { ask: { questions: [ { text: "How fine?", default: very } ] } } ]
  - when: { task: hangs, mode: implement }
    do:
      - write: { path: half.txt, content: "half done\\n" }
      - progress: { percent: 10, text: half a file }
      - hang: {}
default:
  implement:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
`;

const TABS = ['timeline', 'output', 'change', 'criteria', 'conversation', 'dependencies', 'costs'];

let page: Page;
let api: Api;
let project: string;
const FILES = { 'old-name.txt': 'a file\nthat is moved\nas it is\n', 'lint.json': FOUND(HOSTILE) };
const bed = usePages({ config: CONFIG, scenario: SCENARIO, files: FILES }, () => {
  ({ page, api, project } = bed);
});

const tab = (name: string) => page.getByRole('tab', { name });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const standing = () => page.getByLabel('Why it waits');
const eventually = <T>(look: () => Promise<T>) => expect.poll(look, { timeout: PATIENCE_MS });
const dialog = () => page.getByRole('dialog');
const add = (title: string, after: number[] = []) => bed.add(title, { after, accept: ['it is done'] });

describe("a task's page", { timeout: 3 * PATIENCE_MS }, () => {
  test('says that a task does not exist, and shows it as soon as it exists', async () => {
    await bed.visit('/tasks/1?tab=output');
    await page.getByText('Task #1 does not exist').waitFor();
    await page.getByRole('link', { name: 'Open the board' }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await add(`Grind flour ${HOSTILE}`);
    await page.getByRole('heading', { name: `#1 Grind flour ${HOSTILE}` }).waitFor();
  });

  test('shows the output live as text, with tool calls folded', async () => {
    const output = page.getByRole('region', { name: 'Agent output' });
    await output.getByText('half way').waitFor();
    await page.getByText('40 % turning the stones').waitFor();
    await output.getByText(HOSTILE, { exact: true }).waitFor();
    await output.getByText('red [U+202E]reversed', { exact: true }).waitFor();
    const call = output.locator('details', { hasText: 'Bash npm test' });
    expect(await call.getByText('12 passing').isVisible()).toBe(false);
    await call.getByText('failed').waitFor();
    await call.locator('summary').click();
    await call.getByText('12 passing').waitFor();
    await call.getByText('lint: 1 finding').waitFor();
  });

  test('takes a note for the next run, and says who does not see it', async () => {
    await page.keyboard.press('5');
    await page.getByText(/The next run reads it\. agent-\d, which works on it now, does not see it/).waitFor();
    await page.getByLabel('Message the next agent').fill('Mind the miller’s cat');
    await button('Send').click();
    await page.getByRole('listitem').getByText('Mind the miller’s cat').waitFor();
    expect((await api.prompt({ project, task: 1, mode: 'review' })).prompt).toContain('Mind the miller’s cat');
  });

  test('follows the task until it has landed, and shows the evidence', async () => {
    await page.evaluate('window.loadedOnce = true');
    const { worktree } = await api.task({ project, task: 1 });
    await button('Open worktree').click();
    await dialog()
      .getByText(`cd '${worktree}'`)
      .or(dialog().getByText(`cd ${worktree}`))
      .waitFor();
    expect(await dialog().getByRole('link', { name: 'Open in VS Code' }).getAttribute('href')).toBe(
      `vscode://file${encodeURI(worktree!)}`,
    );
    await page.keyboard.press('Escape');
    bed.openDoor('flour');
    const landed = page.getByLabel('Landed', { exact: true });
    const commit = async () =>
      bed.repository.git('log', '-1', '--format=%H %(trailers:key=Evidence,valueonly)', 'main');
    await landed.waitFor();
    const [hash = '', evidence = ''] = (await commit()).split(' ');
    await landed.getByText(`tidemill evidence verify ${hash.slice(0, 12)}`).waitFor();
    await landed.getByText(evidence.trim().slice(0, 12)).waitFor();
    await landed.getByRole('button', { name: 'Verify', exact: true }).click();
    await landed.getByText('The evidence is valid.').waitFor();
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
    await page.getByText('$0.42 in 3 runs').waitFor();
  });

  test('shows what happened, run by run, in both orders', async () => {
    await tab('Timeline').click();
    const timeline = page.getByRole('region', { name: 'Events of #1' });
    await timeline
      .locator('[data-seq]')
      .getByText(/landed/)
      .first()
      .waitFor();
    await timeline.getByRole('heading', { name: /^implement by agent-/ }).waitFor();
    await page.getByLabel('Oldest first').check();
    await eventually(() => timeline.locator('[data-seq]').first().textContent()).toContain('added it');
    await page.getByLabel('Oldest first').uncheck();
  });

  test('shows the change as text, next to the result of each gate', async () => {
    await page.keyboard.press('3');
    await page.waitForURL(/tab=change/);
    const change = page.getByRole('region', { name: 'The change, line by line' });
    await change.getByRole('button', { name: 'src/<img src=x onerror=window.pwned=1>.txt' }).waitFor();
    await change.getByText(HOSTILE, { exact: true }).waitFor();
    await change.getByText('No newline at end of file').first().waitFor();
    await change.getByText('added, binary').waitFor();
    await change.getByText('from old-name.txt, renamed').waitFor();
    await change.getByRole('button', { name: 'end.txt' }).click();
    await eventually(() => change.getByText('no newline', { exact: true }).count()).toBe(0);
    const gate = page.locator('[data-gate="test"]');
    await gate.getByText('passed', { exact: true }).waitFor();
    await gate.getByRole('button', { name: /^View output/ }).click();
    await dialog().getByText('12 passing').waitFor();
    await page.keyboard.press('Escape');
    const warning = page.locator('[data-gate="lint"]').first();
    await warning.getByText('warning', { exact: true }).waitFor();
    await warning.getByText('new findings: 1 high').waitFor();
    await warning.getByText('1 finding', { exact: true }).click();
    await warning.getByText(HOSTILE).waitFor();
    await warning.getByText('src/mill.ts:3').waitFor();
    await page.keyboard.press('4');
    await page.getByText('met', { exact: true }).waitFor();
    await page.getByText('checked by the scenario').waitFor();
    await page.getByRole('listitem').getByText('Dress the stones', { exact: true }).waitFor();
  });

  test('takes an answer with the mouse and with one key, and the task continues', async () => {
    await add('Say which grain');
    await bed.visit('/tasks/2');
    await standing().getByText('Waiting for your answer to Q2.1').waitFor();
    await page.keyboard.press('a');
    const question = page.getByRole('region', { name: 'Question Q2.1' });
    await eventually(() => question.locator(':focus').count()).toBe(1);
    await question.getByRole('button', { name: /Wheat/ }).click();
    await standing().getByText('Waiting for your answer to Q2.2').waitFor();
    await page.locator('body').press('.');
    await page.getByLabel('Landed', { exact: true }).waitFor();
    const talk = page.getByRole('tabpanel').getByRole('listitem');
    await talk.filter({ hasText: 'Rye or wheat?' }).getByText('Wheat', { exact: true }).waitFor();
    await talk.filter({ hasText: 'How fine?' }).getByText('answered, default').waitFor();
  });

  test('reassigns the task, cancels it, restores its work, and restarts it', async () => {
    await add('One that hangs');
    await bed.visit('/tasks/3');
    const worker = page.locator('.progress-line').getByRole('link');
    await page.getByText('implement', { exact: true }).first().waitFor();
    const other = (await worker.textContent()) === 'agent-1' ? 'agent-2' : 'agent-1';
    await button('Reassign').click();
    await dialog().getByLabel('To').selectOption(other);
    await dialog().getByRole('button', { name: 'Reassign' }).click();
    await worker.getByText(other).waitFor();
    await page.getByText('10 % half a file').waitFor();

    await button('Cancel task').click();
    await dialog().getByText('saved in a snapshot').waitFor();
    await dialog().getByRole('button', { name: 'Cancel task #3' }).click();
    await standing().getByText('Cancelled').waitFor();
    await eventually(async () => (await api.snapshots({ project })).some(({ number }) => number === 3)).toBe(true);
    const folder = join(bed.machine.folder, 'restored work');
    await button('Restore snapshot').click();
    await dialog().getByLabel('New folder on').fill(folder);
    await dialog().getByRole('button', { name: 'Restore' }).click();
    await dialog().getByText(folder).waitFor();
    expect(readFileSync(join(folder, 'half.txt'), 'utf8')).toBe('half done\n');
    expect(existsSync(join(bed.repository.root, 'half.txt'))).toBe(false);
    await page.keyboard.press('Escape');

    await page.keyboard.press('r');
    await dialog()
      .getByLabel(/Note to the next agent/)
      .fill('Try the other stone');
    await dialog().getByRole('button', { name: 'Retry' }).click();
    await page.getByText('implement', { exact: true }).first().waitFor();
    expect((await api.prompt({ project, task: 3, mode: 'implement' })).prompt).toContain('Try the other stone');
    await page.keyboard.press('e');
    await dialog().getByLabel('Title').fill('One that hangs no more');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: '#3 One that hangs no more' }).waitFor();
  });

  test('draws the dependencies, and changes them', async () => {
    await add('Bake bread', [3]);
    await bed.visit('/tasks/4?tab=dependencies');
    await page.getByLabel('Starts after').fill('3, loaf');
    await page.getByText('"loaf" is not a task number').waitFor();
    await page.getByLabel('Starts after').fill('99');
    await button('Save').click();
    await page.getByRole('status').getByText('there is no task #99 to wait for').waitFor();
    await page.getByRole('button', { name: /^Dismiss: There is no task #99/ }).click();
    await page.getByLabel('Starts after').fill('#3 #2');
    await button('Save').click();
    await page
      .getByRole('region', { name: 'What #4 waits for' })
      .getByRole('link', { name: /^#2 done/ })
      .waitFor();
    await page.getByRole('region', { name: 'Waits for', exact: true }).getByRole('link', { name: '#3' }).click();
    await page.waitForURL(/\/tasks\/3\?/);
  });

  test('fits wide and narrow, light and dark, and has no serious accessibility violation', async () => {
    const isThere = async () => {
      await page.getByLabel('Landed', { exact: true }).waitFor();
      await eventually(() => page.getByText(/^(Loading|Drawing)/).count()).toBe(0);
    };
    const pages = TABS.map((name) => ({ name: `task-${name}`, path: `/tasks/1?tab=${name}`, isThere }));
    expect(await showPages(bed, pages)).toEqual([]);
  });

  test('executes nothing of what it shows', async () => {
    expect(await page.evaluate('window.pwned')).toBeUndefined();
    // The page shows what the daemon refuses; the browser logs it, too.
    expect(bed.complaints.filter((text) => !/status of 40[049]/.test(text))).toEqual([]);
  });
});
