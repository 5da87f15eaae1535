import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { hasBrowser, NO_BROWSER, PATIENCE_MS } from '../support/browser.ts';
import { hasCodeServer, NO_CODE_SERVER } from '../support/code-server.ts';
import { EditorBed } from '../support/editor-bed.ts';
import type { EditorWindow } from '../support/editor-window.ts';

const SCENE = {
  config: 'workers: 2\npipeline: quick\nbudget: { dailyUsd: 50, monthlyUsd: 500 }\n',
  scenario: `runs:
  - when: { task: wheel, mode: implement }
    do:
      - spend: { inputTokens: 1000, outputTokens: 2000, costUsd: 12.5 }
      - progress:
          percent: 25
          text: cutting the spokes
          todo: [ { text: measure, status: done }, { text: cut, status: active }, { text: fit, status: pending }, { text: oil, status: pending } ]
      - run: "{door wheel}"
      - result: { summary: turned }
  - when: { task: boiler, mode: implement }
    do: [ { crash: { exitCode: 3 } } ]
default:
  implement: [ { run: "{door others}" }, { result: { summary: done } } ]
`,
  files: { 'src/list.ts': '// TODO(ada): sort the list by date\nexport const list = [3, 1, 2];\n' },
};

/** Run within the view's own frame, where the test library of axe does not get to. */
const AXE = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
);

let bed: EditorBed;
let editor: EditorWindow;
let isLost = false;

beforeAll(async () => {
  if (!hasBrowser || !hasCodeServer) return;
  bed = await EditorBed.open(SCENE);
  await bed.machine.up(bed.repository.root);
  editor = await bed.window();
}, 4 * PATIENCE_MS);
beforeEach(({ skip }) => {
  skip(!hasBrowser, NO_BROWSER);
  skip(!hasCodeServer, NO_CODE_SERVER);
  skip(isLost, 'an earlier step has failed');
});
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  isLost = true;
  await editor?.screenshot('fleet-failed');
});
afterAll(async () => {
  await bed?.close();
}, 2 * PATIENCE_MS);

const card = (name: string) => editor.fleet.locator('.card').filter({ hasText: name });
const steer = (worker: string, operation: 'pause' | 'resume') =>
  bed.api.steerWorkers({ project: bed.project, worker, operation, by: 'ada' });

describe('the views of the VS Code extension', { timeout: 4 * PATIENCE_MS }, () => {
  test('all agents are shown with status, task, stage, progress and spend', async () => {
    await bed.started();
    await bed.add('Turn the wheel');
    await editor.openTidemill();
    const working = card('Turn the wheel');
    await working.locator('.state.working').waitFor();
    await working.getByText('1 of 4 steps · 25 % · cut').waitFor();
    expect(await working.locator('.doing').textContent()).toMatch(/^implement/);
    expect(await editor.fleet.locator('.cards > .card').count()).toBe(3);
    await editor.fleet.getByText('3 agents · 1 active · 0 paused · 0 stopped').waitFor();
    await editor.fleet.getByText('$12.50 of $50 (25.0 %)').waitFor();
    await editor.fleet.getByText('$12.50 of $500 (2.5 %)').waitFor();
  });

  test('axe finds nothing wrong with the fleet view', async () => {
    const frame = editor.page
      .frames()
      .find((each) => each.name() === 'active-frame' || each.url().includes('fake.html'));
    await frame!.evaluate(AXE);
    const violations = await frame!.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))',
    );
    expect(violations).toEqual([]);
  });

  test('a stuck agent is restarted from the notification', async () => {
    const runs = async () => (await bed.api.task({ project: bed.project, task: 1 })).runs;
    const [before] = await runs();
    // So that the same agent takes the task again.
    await steer('agent-2', 'pause');
    await bed.raiseStuck(1);
    await editor.command('Tidemill: Refresh');
    await editor.press('#1 Turn the wheel has shown no progress for 10 minutes', 'Restart the worker');
    const running = async () => (await runs()).filter(({ status }) => status === 'running').map(({ id }) => id);
    await expect.poll(running, { timeout: PATIENCE_MS }).toEqual([expect.not.stringContaining(before!.id)]);
    await steer('agent-2', 'resume');
    await card('agent-2').locator('.state.idle').waitFor();
  });

  test('Pause becomes Resume and back, by keyboard too, and changes of others appear by themselves', async () => {
    await card('agent-2').getByRole('button', { name: 'Pause agent-2' }).press('Enter');
    const resume = card('agent-2').getByRole('button', { name: 'Resume agent-2' });
    await resume.waitFor();
    await card('agent-2').locator('.state.paused').waitFor();
    // The button that replaced the pressed one has the focus.
    await editor.fleet.locator('button:focus', { hasText: 'Resume' }).waitFor();
    await resume.click();
    await card('agent-2').locator('.state.idle').waitFor();
    await steer('agent-2', 'pause');
    await card('agent-2').locator('.state.paused').waitFor();
    await steer('agent-2', 'resume');
    await card('agent-2').locator('.state.idle').waitFor();
  });

  test('a card unfolds all its figures, and all agents are compared side by side', async () => {
    await card('agent-2').getByText('Figures').click();
    await card('agent-2').getByText('First review passed').waitFor();
    expect(await card('agent-2').locator('.figures dt').allInnerTexts()).toHaveLength(7);
    await editor.fleet.getByRole('button', { name: 'Compare' }).click();
    const table = editor.fleet.locator('.comparison table');
    expect(await table.locator('tr').first().textContent()).toMatch(/agent-1\s*agent-2\s*review-agent/);
    await editor.fleet.getByRole('button', { name: 'Compare' }).click();
    await card('agent-1').waitFor();
  });

  test('a crashed agent has a red badge, its error, and can be restarted', async () => {
    const boiler = await bed.add('Heat the boiler');
    await card('agent-2').locator('.state.crashed').waitFor();
    expect(await card('agent-2').locator('.problem').textContent()).toContain('3');
    await editor.screenshot('crashed');
    await card('agent-2').getByRole('button', { name: 'Restart agent-2' }).click();
    await expect
      .poll(() => card('agent-2').locator('.state').textContent(), { timeout: PATIENCE_MS })
      .not.toBe('failed');
    // Others would crash with it, too.
    await bed.api.cancelTask({ project: bed.project, task: boiler, by: 'ada' });
  });

  test('the activity shows what happens, and each line its task', async () => {
    await editor.unfold('Activity');
    await editor
      .row(/agent-\d crashed/)
      .first()
      .waitFor();
    const number = await bed.add('Oil the axle');
    await editor
      .row(new RegExp(`Oil the axle.*#${number}|#${number}`))
      .first()
      .waitFor();
    await editor.page.getByRole('button', { name: 'Activity Section' }).click();
  });

  test('a TODO comment becomes a task', async () => {
    await editor.page.keyboard.press('Control+P');
    await editor.page.keyboard.type('list.ts');
    await editor.choose('list.ts');
    await editor.line('TODO').click();
    await editor.command('Tidemill: Add Task from TODO Comment');
    const title = editor.page.locator('.quick-input-widget .quick-input-box input');
    await expect.poll(() => title.inputValue(), { timeout: PATIENCE_MS }).toBe('sort the list by date');
    await title.press('Enter');
    await editor.fill("How you'll know it's done", 'newest first');
    await editor
      .row(/sort the list by date/)
      .first()
      .waitFor();
    const [task] = await bed.api.tasks({ project: bed.project, search: 'sort the list' });
    const { task: added } = await bed.api.task({ project: bed.project, task: task!.number });
    expect(added.files).toEqual(['src/list.ts']);
    expect(added.criteria.map(({ text }) => text)).toEqual(['newest first']);
  });

  test('a task is cancelled from its menu, after a question that names it', async () => {
    const number = await bed.add('Paint the door');
    await editor
      .row(/Paint the door/)
      .first()
      .click({ button: 'right' });
    const asked = editor.dialog.getByText(`Cancel #${number} Paint the door?`);
    // A menu of the editor takes clicks only some time after it has appeared.
    await vi.waitFor(
      async () => {
        await editor.page.getByRole('menuitem', { name: 'Cancel Task…' }).click({ timeout: 2000 });
        await asked.waitFor({ timeout: 2000 });
      },
      { timeout: PATIENCE_MS },
    );
    await editor.dialog.getByRole('button', { name: 'Cancel task' }).click();
    await bed.until(number, 'cancelled');
  });

  test('one more agent appears', async () => {
    await editor.fleet.getByRole('button', { name: 'Add agent' }).click();
    await card('agent-3').waitFor();
    expect(await bed.api.workers({ project: bed.project })).toContainEqual(
      expect.objectContaining({ name: 'agent-3' }),
    );
  });

  test('a task is given to another agent, after a question', async () => {
    // The new agent has taken another task; it must be free for this one.
    bed.openDoor('others');
    await card('agent-3').locator('.state.idle').waitFor();
    await card('Turn the wheel').getByRole('button', { name: 'Reassign agent-1' }).click();
    await editor.choose('agent-3');
    await editor.dialog.getByText('Reassign #1 to agent-3?').waitFor();
    await editor.dialog.getByRole('button', { name: 'Reassign' }).click();
    await card('agent-3').getByText('#1 Turn the wheel').waitFor();
  });

  test("the editor knows Tidemill's tools, and can start their server", async () => {
    await editor.command('MCP: List Servers');
    await editor.choose('Tidemill');
    await editor.choose('Start Server');
    await editor.line(/Discovered\s\d+\stools/).waitFor();
    await editor.screenshot('mcp');
  });

  test('wrong settings are replaced, and said after the change', async () => {
    await editor.command('Preferences: Open Workspace Settings (JSON)');
    await editor.page.locator('.monaco-editor.focused').filter({ hasText: '{' }).waitFor();
    await editor.page.keyboard.press('Control+A');
    await editor.page.keyboard.insertText(JSON.stringify({ 'tidemill.workers': 12, 'tidemill.dailyBudgetUsd': -3 }));
    await editor.page.keyboard.press('Control+S');
    const toast = editor.toast('tidemill.workers is 12. A project has at most 10 agents. Using 10.');
    await toast.filter({ hasText: 'tidemill.dailyBudgetUsd is -3.' }).waitFor();
  });
});
