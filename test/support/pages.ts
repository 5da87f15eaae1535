import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { OUTPUT, PATIENCE_MS } from './browser.ts';

const THEMES = ['light', 'dark'] as const;
const WIDTHS = [1280, 380] as const;

/** A page of the dashboard, and how to tell that it is there. */
export interface PageToShow {
  name: string;
  path: string;
  isThere(page: Page): Promise<unknown>;
}

export interface Flaw {
  page: string;
  what: string;
}

/**
 * Every page in both themes and widths: a screenshot each, and what is wrong with it. Serious findings of axe, a page
 * wider than the window, complaints on the console.
 */
export async function showPages(browser: Browser, link: string, pages: PageToShow[]): Promise<Flaw[]> {
  const folder = join(OUTPUT, 'pages');
  mkdirSync(folder, { recursive: true });
  const flaws: Flaw[] = [];
  for (const theme of THEMES) {
    const context = await browser.newContext({ colorScheme: theme, reducedMotion: 'reduce' });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    let shown = '';
    const complain = (what: string) => flaws.push({ page: shown, what });
    page.on('console', (message) => message.type() === 'error' && complain(message.text()));
    page.on('pageerror', (error) => complain(error.message));
    await page.goto(link);
    for (const { name, path, isThere } of pages) {
      await page.goto(new URL(path, link).href);
      for (const width of WIDTHS) {
        shown = `${name}-${theme}-${width}`;
        await page.setViewportSize({ width, height: 900 });
        await isThere(page);
        await page.screenshot({ path: join(folder, `${shown}.png`), fullPage: true });
        for (const flaw of await flawsOf(page)) complain(flaw);
      }
    }
    await context.close();
  }
  return flaws;
}

async function flawsOf(page: Page): Promise<string[]> {
  const excess = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return [
    ...(excess > 0 ? [`${excess} px wider than the window`] : []),
    ...serious.map(({ id, nodes }) => `axe ${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`),
  ];
}
