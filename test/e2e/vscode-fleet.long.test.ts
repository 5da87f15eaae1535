import { describe, expect, test, vi } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { FLEET_SCENE } from '../support/editor-scene.ts';
import { editorStory } from '../support/editor-story.ts';

describe('the VS Code extension, further', { timeout: 4 * PATIENCE_MS }, () => {
  const story = editorStory(FLEET_SCENE);
  const card = (name: string) => story.editor.fleet.locator('.card').filter({ hasText: name });
  const worker = async (name: string) =>
    (await story.bed.api.workers({ project: story.bed.project })).find((each) => each.name === name)!;

  test('starts Tidemill, and shows an agent at work', async () => {
    const { bed, editor } = story;
    await editor.openTidemill();
    await editor.page.getByRole('button', { name: 'Start Tidemill' }).first().click();
    await bed.started();
    await bed.add('Turn the wheel');
    await card('Turn the wheel').locator('.state.working').waitFor();
  });

  test('marks a crashed agent with a red badge and its error; Restart clears the crash, and the agent works again', async () => {
    const { bed, editor } = story;
    await editor.unfold('Activity');
    // Cancelled before it is tried again: then nothing but the button ends the crash.
    const isCrashed = async () => (await worker('agent-2')).status === 'crashed';
    const crash = async () => {
      const boiler = await bed.add('Heat the boiler');
      await vi.waitUntil(isCrashed, { timeout: PATIENCE_MS });
      await bed.api.cancelTask({ project: bed.project, task: boiler, by: 'ada' });
      return isCrashed();
    };
    await vi.waitUntil(crash, { timeout: 2 * PATIENCE_MS });
    await card('agent-2').locator('.state.crashed').waitFor();
    await editor
      .row(/agent-2 crashed/)
      .first()
      .waitFor();
    expect(await card('agent-2').locator('.problem').textContent()).toContain('3');
    expect(await worker('agent-2')).toMatchObject({ status: 'crashed', task: null });
    await card('agent-2').getByRole('button', { name: 'Restart agent-2' }).click();
    await card('agent-2').locator('.state.idle').waitFor();
    expect(await worker('agent-2')).toMatchObject({ status: 'idle', task: null });
    const restarts = [];
    for await (const { body } of bed.api.events({ project: bed.project, types: ['emergency.executed'] }))
      restarts.push(body);
    expect(restarts).toMatchObject([{ operation: 'restart_worker', workers: ['agent-2'] }]);
    const axle = await bed.add('Oil the axle');
    await card('agent-2').getByText(`#${axle} Oil the axle`).waitFor();
    bed.openDoor('axle');
    await bed.until(axle, 'done');
  });

  test('makes a task of a TODO comment', async () => {
    const { bed, editor } = story;
    await editor.openFile('list.ts');
    await editor.line('TODO').click();
    await editor.command('Tidemill: Add Task from TODO Comment');
    const title = editor.page.locator('.quick-input-widget .quick-input-box input');
    await expect.poll(() => title.inputValue(), { timeout: PATIENCE_MS }).toBe('sort the list by date');
    await title.press('Enter');
    await editor.fill("How you'll know it's done", 'newest first');
    const found = () => bed.api.tasks({ project: bed.project, search: 'sort the list' });
    await expect.poll(found, { timeout: PATIENCE_MS }).toHaveLength(1);
    const [task] = await found();
    const { task: added } = await bed.api.task({ project: bed.project, task: task!.number });
    expect(added.files).toEqual(['src/list.ts']);
    expect(added.criteria.map(({ text }) => text)).toEqual(['newest first']);
  });

  test('cancels a task from its menu, after a question that names it', async () => {
    const { bed, editor } = story;
    const number = await bed.add('Put paint on the door');
    await card(`#${number} Put paint on the door`).waitFor();
    const asked = editor.dialog.getByText(`Cancel #${number} Put paint on the door?`);
    // A menu of the editor takes clicks only some time after it has appeared, and closes when the list changes.
    await vi.waitFor(
      async () => {
        if (await asked.isVisible()) return;
        await editor.page.keyboard.press('Escape');
        await editor
          .row(/Put paint on the door/)
          .first()
          .click({ button: 'right', timeout: 2000 });
        await editor.page.getByRole('menuitem', { name: 'Cancel Task…' }).click({ timeout: 2000 });
        await asked.waitFor({ timeout: 2000 });
      },
      { timeout: PATIENCE_MS },
    );
    await editor.dialog.getByRole('button', { name: 'Cancel task' }).click();
    await bed.until(number, 'cancelled');
  });

  test('resolves a conflict in the merge editor, and the task lands with both sides', async () => {
    const { bed, editor } = story;
    const number = await bed.add('Raise the wall');
    await bed.changed(number, 1);
    bed.repository.write({ 'wall.txt': 'top\nstones 11\nmiddle\nfloor\n' });
    bed.repository.git('commit', '-q', '-a', '-m', 'Meanwhile');
    bed.openDoor('wall');
    await editor.unfold('Conflicts');
    const theirs = editor.page.getByText('Accept main');
    // A click that comes while the list changes is lost.
    await vi.waitFor(
      async () => {
        await editor.row('wall.txt, not resolved').click({ timeout: 2000 });
        await theirs.waitFor({ timeout: 10_000 });
      },
      { timeout: PATIENCE_MS },
    );
    await theirs.click();
    await editor.page.getByText(`Accept #${number}`).click();
    await editor.page.getByText(`Remove #${number}`).waitFor();
    await editor.button('Complete Merge').click();
    await editor.press(`All files of #${number} are resolved`, 'Mark Resolved');
    await bed.until(number, 'done');
    expect(bed.repository.git('show', 'main:wall.txt')).toBe('top\nstones 11\nstones 12\nmiddle\nfloor');
  });

  test('replaces wrong settings, and says so after the change', async () => {
    const { editor } = story;
    await editor.command('Preferences: Open Workspace Settings (JSON)');
    await editor.page.locator('.monaco-editor.focused').filter({ hasText: '{' }).waitFor();
    await editor.page.keyboard.press('Control+A');
    await editor.page.keyboard.insertText(JSON.stringify({ 'tidemill.workers': 12, 'tidemill.dailyBudgetUsd': -3 }));
    await editor.page.keyboard.press('Control+S');
    const toast = editor.toast('tidemill.workers is 12. A project has at most 10 agents. Using 10.');
    await toast.filter({ hasText: 'tidemill.dailyBudgetUsd is -3.' }).waitFor();
  });
});
