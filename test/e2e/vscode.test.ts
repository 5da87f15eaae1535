import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { FLEET_SCENE } from '../support/editor-scene.ts';
import { editorStory } from '../support/editor-story.ts';

/** Run within the view's own frame, where the test library of axe does not get to. */
const AXE = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
);

describe('the VS Code extension', { timeout: 4 * PATIENCE_MS }, () => {
  const story = editorStory(FLEET_SCENE);
  const card = (name: string) => story.editor.fleet.locator('.card').filter({ hasText: name });
  const worker = async (name: string) =>
    (await story.bed.api.workers({ project: story.bed.project })).find((each) => each.name === name)!;

  test('is installed from its package and starts Tidemill in a terminal', async () => {
    const { bed, editor } = story;
    await editor.openTidemill();
    await editor.page.getByRole('button', { name: 'Start Tidemill' }).first().click();
    await bed.started();
    await editor.page.getByText('No tasks yet').waitFor();
  });

  test('asks the question of an agent in a toast and passes the answer on', async () => {
    const { bed, editor } = story;
    const number = await bed.add('Grind the grain');
    await editor.press('Rye or wheat?', 'Answer');
    await editor.choose('Wheat');
    await bed.until(number, 'done');
    const [question] = await bed.api.questions({ project: bed.project, task: number, all: true });
    expect(question?.answer).toMatchObject({ text: 'Wheat' });
  });

  test('adds a task and shows all agents with status, task, stage, progress and spend', async () => {
    const { editor } = story;
    await editor.command('Tidemill: Add Task');
    await editor.fill('What should be done?', 'Turn the wheel');
    await editor.fill("How you'll know it's done", '');
    const working = card('#2 Turn the wheel');
    await working.locator('.state.working').waitFor();
    await working.getByText('1 of 4 steps · 25 % · cut').waitFor();
    expect(await working.locator('.doing').textContent()).toMatch(/^implement/);
    expect(await editor.fleet.locator('.cards > .card').count()).toBe(3);
    await editor.fleet.getByText('3 agents · 1 active · 0 paused · 0 stopped').waitFor();
    await editor.fleet.getByText('$12.50 of $50 (25.0 %)').waitFor();
    await editor.fleet.getByText('$12.50 of $500 (2.5 %)').waitFor();
    await editor.row(/^Task 2, Turn the wheel/).waitFor();
  });

  test('has a fleet view in which axe finds nothing wrong', async () => {
    const frame = story.editor.page
      .frames()
      .find((each) => each.name() === 'active-frame' || each.url().includes('fake.html'));
    await frame!.evaluate(AXE);
    const violations = await frame!.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))',
    );
    expect(violations).toEqual([]);
  });

  test('has a Pause button that becomes Resume and back, by keyboard too, and shows changes of others by itself', async () => {
    const { bed, editor } = story;
    const steer = (operation: 'pause' | 'resume') =>
      bed.api.steerWorkers({ project: bed.project, worker: 'agent-2', operation, by: 'ada' });
    await card('agent-2').getByRole('button', { name: 'Pause agent-2' }).press('Enter');
    const resume = card('agent-2').getByRole('button', { name: 'Resume agent-2' });
    await resume.waitFor();
    await card('agent-2').locator('.state.paused').waitFor();
    // The button that replaced the pressed one has the focus.
    await editor.fleet.locator('button:focus', { hasText: 'Resume' }).waitFor();
    await resume.click();
    await card('agent-2').locator('.state.idle').waitFor();
    await steer('pause');
    await card('agent-2').locator('.state.paused').waitFor();
    await steer('resume');
    await card('agent-2').locator('.state.idle').waitFor();
  });

  test('unfolds all figures of a card, and compares all agents side by side', async () => {
    const { editor } = story;
    await card('agent-2').getByText('Figures').click();
    await card('agent-2').getByText('First review passed').waitFor();
    expect(await card('agent-2').locator('.figures dt').allInnerTexts()).toHaveLength(7);
    await editor.fleet.getByRole('button', { name: 'Compare' }).click();
    const table = editor.fleet.locator('.comparison table');
    expect(await table.locator('tr').first().textContent()).toMatch(/agent-1\s*agent-2\s*review-agent/);
    await editor.fleet.getByRole('button', { name: 'Compare' }).click();
    await card('agent-1').waitFor();
  });

  test('shows what happens as activity, and the task of each line', async () => {
    const { bed, editor } = story;
    await editor.unfold('Activity');
    const number = await bed.add('Sweep the floor');
    await editor
      .row(new RegExp(`#${number}\\b`))
      .first()
      .waitFor();
    await editor.page.getByRole('button', { name: 'Activity Section' }).click();
  });

  test('shows the change of a task while the agent works', async () => {
    const { bed, editor } = story;
    await bed.changed(2, 1);
    await editor.command('Tidemill: Show Change');
    await editor.choose('#2 Turn the wheel');
    const shown = editor.page.locator('.multiDiffEntry').filter({ hasText: 'wheel.ts' });
    await shown.locator('.modified .view-line').filter({ hasText: 'rim' }).waitFor();
    await shown.locator('.original .view-line').filter({ hasText: 'spokes = 8' }).waitFor();
  });

  test('adds an agent, and gives it the task of another one after a question', async () => {
    const { bed, editor } = story;
    await editor.fleet.getByRole('button', { name: 'Add agent' }).click();
    await card('agent-3').locator('.state.idle').waitFor();
    expect(await worker('agent-3')).toMatchObject({ role: 'builder' });
    await card('Turn the wheel').getByRole('button', { name: 'Reassign agent-1' }).click();
    await editor.choose('agent-3');
    await editor.dialog.getByText('Reassign #2 to agent-3?').waitFor();
    await editor.dialog.getByRole('button', { name: 'Reassign' }).click();
    await card('agent-3').getByText('#2 Turn the wheel').waitFor();
    expect(await worker('agent-3')).toMatchObject({ task: { number: 2 } });
    await bed.changed(2, 1);
  });
});
