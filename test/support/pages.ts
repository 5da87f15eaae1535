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
  for (const theme of THEMES)
    for (const width of WIDTHS) {
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme: theme,
        reducedMotion: 'reduce',
      });
      context.setDefaultTimeout(PATIENCE_MS);
      const page = await context.newPage();
      let shown = '';
      const complain = (what: string) => flaws.push({ page: shown, what });
      page.on('console', (message) => message.type() === 'error' && complain(message.text()));
      page.on('pageerror', (error) => complain(error.message));
      await page.goto(link);
      for (const { name, path, isThere } of pages) {
        shown = `${name}-${theme}-${width}`;
        await page.goto(new URL(path, link).href);
        await isThere(page);
        await page.screenshot({ path: join(folder, `${shown}.png`), fullPage: true });
        const excess = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        if (Number(excess) > 0) complain(`${excess} px wider than the window`);
        const { violations } = await new AxeBuilder({ page }).analyze();
        for (const { id, impact, nodes } of violations)
          if (impact === 'serious' || impact === 'critical')
            complain(`axe ${id}, ${impact}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`);
      }
      await context.close();
    }
  return flaws;
}
