import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasBrowser, NO_BROWSER, PATIENCE_MS } from '../support/browser.ts';
import { hasCodeServer, NO_CODE_SERVER } from '../support/code-server.ts';
import { EditorBed } from '../support/editor-bed.ts';
import type { EditorWindow } from '../support/editor-window.ts';

const CONFIG = `workers: 2
pipeline: quick
critical: ["*.txt"]
gates:
  - { name: no-markers, run: "! grep -n '^<<<<<<<' *.txt" }
`;
const SCENARIO = `runs:
  - when: { task: wheel, mode: implement }
    do:
      - say: { text: "turning the wheel" }
      - write: { path: src/wheel.ts, content: "export const spokes = 12;\\nexport const rim = 'oak';\\n" }
      - write: { path: src/axle.ts, content: "export const axle = 'iron';\\n" }
      - run: "{door wheel}"
      - result: { summary: turned }
  - when: { task: wall, mode: implement }
    do:
      - write: { path: wall.txt, content: "top\\nstones 12\\nmiddle\\nfloor\\n" }
      - run: "{door wall}"
      - result: { summary: raised }
default:
  implement:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
`;
const FILES = {
  'wall.txt': 'top\nstones 10\nmiddle\nfloor\n',
  'src/wheel.ts': 'export const spokes = 8;\n',
};

let bed: EditorBed;
let editor: EditorWindow;
const isReady = hasBrowser && hasCodeServer;

beforeAll(async () => {
  if (!isReady) return;
  bed = await EditorBed.open({ config: CONFIG, scenario: SCENARIO, files: FILES });
  editor = await bed.window();
}, 4 * PATIENCE_MS);
beforeEach(({ skip }) => {
  skip(!hasBrowser, NO_BROWSER);
  skip(!hasCodeServer, NO_CODE_SERVER);
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await editor?.screenshot('failed');
});
afterAll(() => bed?.close(), PATIENCE_MS);

describe('a person in VS Code', { timeout: 4 * PATIENCE_MS }, () => {
  test('starts Tidemill from the editor', async () => {
    await editor.openTidemill();
    await editor.page.getByRole('button', { name: 'Start Tidemill' }).first().click();
    await expect
      .poll(
        async () =>
          bed.findProject().then(
            () => true,
            () => false,
          ),
        { timeout: PATIENCE_MS },
      )
      .toBe(true);
    await editor.page.getByText('No tasks yet').waitFor();
    await editor.screenshot('started');
  });

  test('sees a change and comments on a line', async () => {
    await bed.add('Turn the wheel');
    await bed.machine.event('run.briefed');
    await expect
      .poll(async () => (await bed.api.taskFiles({ project: bed.project, task: 1 })).files.length, {
        timeout: PATIENCE_MS,
      })
      .toBe(2);
    await editor.command('Tidemill: Show Change');
    await editor.choose('#1 Turn the wheel');
    const line = editor.page.locator('.multiDiffEntry .modified .view-line').filter({ hasText: 'rim' });
    await line.hover();
    await editor.page.locator('.multiDiffEntry .modified .comment-range-glyph.line-hover').first().click();
    await editor.page.locator('.review-widget .comment-form .monaco-editor.focused').waitFor();
    await editor.page.keyboard.type('Please make it elm');
    await editor.screenshot('comment');
    await editor.page.getByRole('button', { name: 'Send to Agent' }).click();
    await editor.page.getByText('sent to the agent, for its next run').waitFor();
    await editor.screenshot('commented');
    const { task } = await bed.api.task({ project: bed.project, task: 1 });
    expect(task.context.at(-1)).toMatchObject({ source: 'person', entryType: 'note' });
    expect(task.context.at(-1)?.summary).toBe(
      "A person commented on src/wheel.ts, line 2:\n> export const rim = 'oak';\n\nPlease make it elm",
    );
  });

  test('reads evidence and follows output', async () => {
    await editor.command('Tidemill: Show Output');
    await editor.choose('#1 Turn the wheel');
    await editor.page.locator('.view-line').filter({ hasText: 'turning the wheel' }).waitFor();
    bed.openDoor('wheel');
    await editor.page.locator('.view-line').filter({ hasText: 'the run has ended' }).waitFor();
    await editor.screenshot('output');
    await editor.command('Tidemill: Show Evidence');
    await editor.choose('#1 Turn the wheel');
    await editor.page.locator('.view-line').filter({ hasText: 'no-markers' }).first().waitFor();
    await editor.screenshot('evidence');
  });

  test('resolves a conflict in the merge editor', async () => {
    const number = await bed.add('Raise the wall');
    await expect
      .poll(async () => (await bed.api.taskFiles({ project: bed.project, task: number })).files.length, {
        timeout: PATIENCE_MS,
      })
      .toBe(1);
    bed.repository.write({ 'wall.txt': 'top\nstones 11\nmiddle\nfloor\n' });
    bed.repository.git('commit', '-q', '-a', '-m', 'Meanwhile');
    bed.openDoor('wall');
    await editor.unfold('Conflicts');
    await editor.row(/^Conflict of task 2, Raise the wall, 1 file with main/).waitFor();
    await editor.screenshot('conflicts');
    await editor.row(/^wall.txt, not resolved/).click();
    await editor.page.getByText('Accept main').click();
    await editor.page.getByText('Remove main').waitFor();
    await editor.page.getByText('Accept #2').click();
    await editor.page.getByText('Remove #2').waitFor();
    await editor.screenshot('merge');
    await editor.page.getByRole('button', { name: 'Complete Merge' }).click();
    await editor.press('All files of #2 are resolved', 'Mark Resolved');
    await editor.toast('#2 continues').waitFor();
    await editor.screenshot('resolved');
    await expect.poll(() => bed.stage(2), { timeout: PATIENCE_MS }).toBe('done');
    expect(bed.repository.git('show', 'main:wall.txt')).toBe('top\nstones 11\nstones 12\nmiddle\nfloor');
  });
});
