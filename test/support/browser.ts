import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

const ROOT = join(import.meta.dirname, '..', '..');
/** Where tests leave their screenshots. */
export const OUTPUT = join(ROOT, 'test', 'output');

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  return folders
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

const executablePath = findChromium();
export const hasBrowser = executablePath !== undefined;
export const NO_BROWSER = 'no chromium on PATH (Debian package chromium)';

/** The time limit for what the page shows by itself, on a machine that also runs other tests. */
export const PATIENCE_MS = 60_000;

export async function launchBrowser(env: NodeJS.ProcessEnv): Promise<Browser> {
  mkdirSync(OUTPUT, { recursive: true });
  return chromium.launch({ executablePath, args: ARGS, env: env as Record<string, string> });
}

/** Taken only for `npm run screenshots`: a picture takes longer than most checks of a page. */
export async function picture(page: Page, name: string, isWhole: boolean): Promise<void> {
  if (!process.env.TIDEMILL_SCREENSHOTS) return;
  await page.screenshot({ path: join(OUTPUT, `${name}.png`), fullPage: isWhole });
}
