import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { hasBrowser, NO_BROWSER, PATIENCE_MS } from './browser.ts';
import { hasCodeServer, NO_CODE_SERVER } from './code-server.ts';
import { EditorBed, type Scene } from './editor-bed.ts';
import type { EditorWindow } from './editor-window.ts';

/** What the tests of a file share. A start of VS Code takes longer than most of them. */
class EditorStory {
  bed!: EditorBed;
  editor!: EditorWindow;
}

/** One VS Code, one repository and one window for a test file. Its tests are one path: each begins where the last one ended. */
export function editorStory(scene: Scene, ...extensions: string[]): EditorStory {
  const story = new EditorStory();
  let isLost = false;
  beforeAll(async () => {
    if (!hasBrowser || !hasCodeServer) return;
    story.bed = await EditorBed.open(scene, ...extensions);
    story.editor = await story.bed.window();
  }, 4 * PATIENCE_MS);
  beforeEach(({ skip }) => {
    skip(!hasBrowser, NO_BROWSER);
    skip(!hasCodeServer, NO_CODE_SERVER);
    // The next ones would only wait.
    skip(isLost, 'an earlier step has failed');
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    isLost = true;
    await story.editor?.screenshot('failed');
  });
  afterAll(() => story.bed?.close(), 2 * PATIENCE_MS);
  return story;
}
