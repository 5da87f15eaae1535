import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { WALK_SCENE } from '../support/editor-scene.ts';
import { editorStory } from '../support/editor-story.ts';

const THEMES = [
  ['light', 'Light Modern', 'vs'],
  ['dark', 'Dark Modern', 'vs-dark'],
  ['contrast', 'Default High Contrast', 'hc-black'],
] as const;
const KINDS = { vs: 'vscode-light', 'vs-dark': 'vscode-dark', 'hc-black': 'vscode-high-contrast' };

describe('a person in VS Code', { timeout: 4 * PATIENCE_MS }, () => {
  const story = editorStory(WALK_SCENE, 'no-merge-editor');

  test('follows the walkthrough and starts Tidemill from it', async () => {
    const { bed, editor } = story;
    await editor.command('Welcome: Open Walkthrough');
    await editor.choose('Get started with Tidemill');
    await editor
      .button(/^Start Tidemill/)
      .first()
      .click();
    await editor.screenshot('walkthrough');
    await editor.page.getByRole('button', { name: 'Start', exact: true }).click();
    await bed.started();
    await editor.openTidemill();
    await editor.page.getByText('No tasks yet').waitFor();
    await editor.screenshot('started');
  });

  test('comments on a line of a change, and the agent is told, also when the daemon restarts meanwhile', async () => {
    const { bed, editor } = story;
    await bed.add('Turn the wheel');
    await bed.changed(1, 2);
    await editor.command('Tidemill: Show Output');
    await editor.choose('#1 Turn the wheel');
    await editor.line('turning the wheel').waitFor();
    await editor.command('Tidemill: Show Change');
    await editor.choose('#1 Turn the wheel');
    const { page } = editor;
    const shown = page.locator('.multiDiffEntry').filter({ hasText: 'wheel.ts' }).locator('.modified');
    await shown.locator('.comment-range-glyph').first().waitFor();
    // The plus appears where the mouse comes to a line after the editor knows that it can be commented on.
    await vi.waitFor(
      async () => {
        await shown.locator('.view-line').filter({ hasText: 'spokes' }).hover();
        await shown.locator('.view-line').filter({ hasText: 'rim' }).hover();
        await shown.locator('.comment-range-glyph.line-hover').click({ timeout: 2000 });
      },
      { timeout: PATIENCE_MS },
    );
    const box = page.locator('.review-widget .comment-form .monaco-editor.focused');
    await box.waitFor();
    await page.keyboard.type('Please make it elm');
    await bed.stopDaemon();
    await page.getByText('Tidemill is not running here.').first().waitFor();
    await editor.screenshot('no-daemon');
    await editor.button('Send to Agent').click();
    await editor.toast('Tidemill is not running').waitFor();
    // Neither the file nor the comment is lost.
    await page.locator('.review-widget .comment-form').getByText('Please make it elm').waitFor();
    await shown.locator('.view-line').filter({ hasText: 'rim' }).waitFor();
    await bed.machine.up(bed.repository.root);
    await editor.toast('Tidemill is running again').waitFor();
    await editor.button('Send to Agent').click();
    await page.getByText('sent to the agent, for its next run').waitFor();
    await editor.screenshot('comment');
    const { task } = await bed.api.task({ project: bed.project, task: 1 });
    expect(task.context.at(-1)).toMatchObject({
      source: 'person',
      summary: "A person commented on src/wheel.ts, line 2:\n> export const rim = 'oak';\n\nPlease make it elm",
    });
  });

  test('follows the output of the agent beyond the restart and reads the evidence', async () => {
    const { bed, editor } = story;
    await editor.page.getByRole('tab', { name: /^Output of #1/ }).click();
    await editor.line('the next run').waitFor();
    await expect.poll(() => editor.page.locator('.view-line', { hasText: 'turning the wheel' }).count()).toBe(2);
    bed.openDoor('wheel');
    await expect.poll(() => editor.page.locator('.view-line', { hasText: 'the run has ended' }).count()).toBe(2);
    await bed.until(1, 'done');
    await editor.command('Tidemill: Show Evidence');
    await editor.choose('#1 Turn the wheel');
    await editor.line(/pass\s+no-markers/).waitFor();
    await editor.screenshot('evidence');
  });

  test('completes a conflict in the merge editor and marks it resolved', async () => {
    const { bed, editor } = story;
    await bed.add('Raise the wall');
    await bed.add('Lay the floor');
    await bed.changed(2, 2);
    await bed.changed(3, 1);
    const meanwhile = { 'wall.txt': 'top\nstones 11\nmiddle\nfloor\n', 'floor.txt': 'slate\n', 'arms.txt': 'bear\0' };
    bed.repository.write(meanwhile);
    bed.repository.git('commit', '-q', '-a', '-m', 'Meanwhile');
    bed.openDoor('conflict');
    await editor.unfold('Conflicts');
    await editor.row('Conflict of task 2, Raise the wall, 2 files with main').waitFor();
    await editor.row('Conflict of task 3, Lay the floor, 1 file with main').waitFor();
    const { page } = editor;
    const theirs = page.getByText('Accept main');
    // A click that comes while the list changes is lost.
    await vi.waitFor(
      async () => {
        await editor.row('wall.txt, not resolved').click({ timeout: 2000 });
        await theirs.waitFor({ timeout: 10_000 });
      },
      { timeout: PATIENCE_MS },
    );
    await theirs.click();
    await page.getByText('Remove main').waitFor();
    // Saved by the editor itself, it is a draft: the conflict waits, and cannot be marked as resolved yet.
    await editor.command('Tidemill: Mark Conflict Resolved');
    await editor.choose('#2 Raise the wall');
    await editor.toast('The merge of wall.txt is not completed').waitFor();
    await page.getByText('Accept #2').click();
    await page.getByText('Remove #2').waitFor();
    await editor.screenshot('merge');
    await editor.button('Complete Merge').click();
    await editor.toast('wall.txt is resolved. 1 file of #2 left.').waitFor();
    // A binary file is taken from one side as a whole; what that drops of the other one is asked.
    await editor.row('arms.txt, not resolved').click();
    await editor.screenshot('binary');
    await editor.choose('Keep the version of #2');
    await editor.press('All files of #2 are resolved', 'Mark Resolved');
    await editor.dialog.getByText('Drop changes of main?').waitFor();
    await editor.dialog.getByText('arms.txt').waitFor();
    await editor.screenshot('dropped');
    await editor.dialog.getByRole('button', { name: 'Drop Changes' }).click();
    await editor.toast('#2 continues').waitFor();
    await editor.row('Conflict of task 2').waitFor({ state: 'detached' });
    await bed.until(2, 'done');
    expect(bed.repository.git('show', 'main:wall.txt')).toBe('top\nstones 11\nstones 12\nmiddle\nfloor');
    expect(bed.repository.git('show', 'main:arms.txt')).toBe('lion\0');
  });

  test('gets the commands for a terminal when the merge editor does not open, and can abort', async () => {
    const { bed, editor } = story;
    await editor.command('Tests: Break the Merge Editor');
    await editor.row('floor.txt, not resolved').click();
    await editor.line('# Resolve the conflict of #3 with git').waitFor();
    await editor.line('The merge editor is broken. These commands do the same in a terminal.').waitFor();
    await editor.line('tidemill conflicts settle 3').waitFor();
    await editor.toast('The merge editor cannot be used for #3').waitFor();
    await editor.screenshot('fallback');
    await editor.command('Tests: Repair the Merge Editor');
    await editor.command('Tidemill: Abort Conflict and Restart Task');
    await editor.choose('#3 Lay the floor');
    await editor.dialog.getByText('Restart #3 Lay the floor?').waitFor();
    await editor.dialog.getByRole('button', { name: 'Restart Task' }).click();
    await editor.row('Conflict of task 3').waitFor({ state: 'detached' });
    await bed.until(3, 'done');
    expect(bed.repository.git('show', 'main:floor.txt')).toBe('slate\nand more');
  });

  test('restarts a stuck agent from the notification', async () => {
    const { bed, editor } = story;
    const number = await bed.add('Heat the boiler');
    const running = async () => {
      const { runs } = await bed.api.task({ project: bed.project, task: number });
      return runs.filter(({ status }) => status === 'running').map(({ id }) => id);
    };
    await expect.poll(running, { timeout: PATIENCE_MS }).toHaveLength(1);
    const [before] = await running();
    await bed.raiseStuck(number);
    await editor.command('Tidemill: Refresh');
    await editor.press(`#${number} Heat the boiler has shown no progress for 10 minutes`, 'Restart the worker');
    await expect.poll(running, { timeout: PATIENCE_MS }).toEqual([expect.not.stringContaining(before!)]);
  });

  test('stops everything, after a dialog that names agents and tasks', async () => {
    const { bed, editor } = story;
    const card = editor.fleet.getByRole('listitem').filter({ hasText: '#4 Heat the boiler' });
    await card.getByText('working').waitFor();
    await editor.fleet.getByRole('button', { name: 'Emergency stop' }).click();
    await editor.dialog.getByText('on #4 Heat the boiler').waitFor();
    await editor.screenshot('emergency');
    await editor.dialog.getByRole('button', { name: 'Stop everything now' }).click();
    await editor.toast(/agents? stopped/).waitFor();
    await editor.fleet.getByText('3 agents · 0 active · 0 paused · 3 stopped').waitFor();
    const workers = await bed.api.workers({ project: bed.project });
    expect(new Set(workers.map(({ desired }) => desired))).toEqual(new Set(['stopped']));
  });

  test('sees the same in a light, a dark and a high-contrast theme', async () => {
    const { editor } = story;
    await editor.fleet.getByRole('button', { name: 'Resume all' }).click();
    await editor.fleet.getByText('3 agents · 1 active · 0 paused · 0 stopped').waitFor();
    await editor.command('Tidemill: Show Change');
    await editor.choose('#1 Turn the wheel');
    await editor.line('rim').waitFor();
    for (const [name, theme, look] of THEMES) {
      await editor.useTheme(theme);
      await editor.page.locator(`.monaco-workbench.${look}`).waitFor();
      // The webview gets the colours a little later than the window.
      await editor.fleet.locator(`body[data-vscode-theme-kind="${KINDS[look]}"]`).waitFor();
      await editor.screenshot(name);
    }
  });

  test("knows Tidemill's tools in the editor, and can start their server", async () => {
    const { editor } = story;
    await editor.command('MCP: List Servers');
    await editor.choose('Tidemill');
    await editor.choose('Start Server');
    await editor.line(/Discovered\s\d+\stools/).waitFor();
    await editor.screenshot('mcp');
  });

  test('chooses between two repositories of a workspace that is not trusted, and cannot change anything', async () => {
    const { bed, editor } = story;
    const { folder } = bed.repository;
    mkdirSync(join(folder, 'another mill', '.git'), { recursive: true });
    bed.server.distrust();
    await editor.show(bed.server.window(folder));
    await editor.openTidemill();
    await editor.fleet.getByText('You have not trusted this workspace').waitFor();
    await editor.command('Tidemill: Choose Repository');
    await editor.choose('the mill');
    await editor.row(/^Task 4, Heat the boiler/).waitFor();
    await editor.command('Tidemill: Add Task');
    await editor.toast('You have not trusted this workspace').waitFor();
    await editor.screenshot('untrusted');
  });

  test('is told when there is no repository', async () => {
    const { bed, editor } = story;
    const empty = join(bed.machine.folder, 'empty');
    mkdirSync(empty);
    await editor.show(bed.server.window(empty));
    await editor.openTidemill();
    await editor.page.getByText('Open a folder with a git repository').first().waitFor();
  });
});
