import { join } from 'node:path';
import type { Browser, FrameLocator, Locator, Page } from 'playwright-core';
import { vi } from 'vitest';
import { OUTPUT, PATIENCE_MS } from './browser.ts';

/** One window of VS Code in the browser, used as a person does: by its command palette, its views and its toasts. */
export class EditorWindow {
  readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(browser: Browser, url: string): Promise<EditorWindow> {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, reducedMotion: 'reduce' });
    page.setDefaultTimeout(PATIENCE_MS);
    const window = new EditorWindow(page);
    await window.show(url);
    return window;
  }

  /** Shows another folder in this window. */
  async show(url: string): Promise<void> {
    await this.page.goto(url);
    // The status bar is drawn when the window can be used.
    await this.page.locator('.monaco-workbench .statusbar-item').first().waitFor();
  }

  /** Runs a command by its title in the palette. */
  async command(title: string): Promise<void> {
    await this.#search(`>${title}`);
    await this.choose(title);
  }

  async openFile(name: string): Promise<void> {
    await this.#search(name);
    await this.choose(name);
  }

  async #search(text: string): Promise<void> {
    const { page } = this;
    const input = page.locator('.quick-input-widget input[aria-controls]').first();
    // A key that comes while the editor moves the focus is lost.
    await vi.waitFor(
      async () => {
        await page.keyboard.press('F1');
        await input.waitFor({ timeout: 2000 });
      },
      { timeout: PATIENCE_MS },
    );
    await input.fill(text);
  }

  /** Chooses in the list that a command has opened. */
  async choose(text: string | RegExp): Promise<void> {
    await this.#option(text).click();
  }
  #option(text: string | RegExp): Locator {
    return this.page.locator('.quick-input-list .monaco-list-row').filter({ hasText: text }).first();
  }

  async useTheme(name: string): Promise<void> {
    // The list closes when an editor that is still opening takes the focus.
    await vi.waitFor(
      async () => {
        await this.command('Preferences: Color Theme');
        await this.page.getByPlaceholder(/Color Theme/).fill(name, { timeout: 5000 });
        await this.#option(name).click({ timeout: 5000 });
      },
      { timeout: PATIENCE_MS },
    );
  }

  /** Types into the box that a command has opened with this prompt. */
  async fill(prompt: string, text: string): Promise<void> {
    const box = this.page.locator('.quick-input-widget').filter({ hasText: prompt });
    await box.locator('.quick-input-box input').fill(text);
    await box.locator('.quick-input-box input').press('Enter');
  }

  async openTidemill(): Promise<void> {
    await this.page
      .getByRole('tab', { name: /^Tidemill/ })
      .first()
      .click();
    await this.view('Fleet').waitFor();
  }

  /** A view's section in the side bar. */
  view(name: string): Locator {
    return this.page
      .locator('.split-view-view .pane')
      .filter({ has: this.page.getByRole('button', { name: `${name} Section` }) });
  }
  async unfold(name: string): Promise<void> {
    const header = this.page.getByRole('button', { name: `${name} Section` });
    if ((await header.getAttribute('aria-expanded')) !== 'true') await header.click();
  }
  row(name: string | RegExp): Locator {
    return this.page.getByRole('treeitem', { name });
  }
  /** The webview's own document. */
  get fleet(): FrameLocator {
    return this.page.frameLocator('iframe.webview[src*="purpose=webviewView"]').frameLocator('iframe#active-frame');
  }

  toast(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast').filter({ hasText: text });
  }
  async press(toast: string | RegExp, button: string): Promise<void> {
    await this.toast(toast).getByRole('button', { name: button, exact: true }).click();
  }
  get dialog(): Locator {
    return this.page.locator('.monaco-dialog-box');
  }

  line(text: string | RegExp): Locator {
    return this.page.locator('.view-line').filter({ hasText: text }).first();
  }
  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: join(OUTPUT, `vscode-${name}.png`) });
  }
  async close(): Promise<void> {
    await this.page.close();
  }
}
