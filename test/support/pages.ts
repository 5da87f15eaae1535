import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { OUTPUT, PATIENCE_MS } from './browser.ts';

/**
 * Both themes and both widths. In `npm test` each page is looked at twice: wide and light, narrow and dark.
 * `npm run screenshots` looks at the other two as well and takes a picture of each.
 */
const ALL = process.env.TIDEMILL_SCREENSHOTS === 'all';
const LOOKS: { theme: 'light' | 'dark'; widths: number[] }[] = [
  { theme: 'light', widths: ALL ? [1280, 380] : [1280] },
  { theme: 'dark', widths: ALL ? [1280, 380] : [380] },
];

/** A page of the dashboard, and how to detect that it is loaded. */
export interface PageToShow {
  name: string;
  path: string;
  isThere(page: Page): Promise<unknown>;
  /** Its picture is taken in every run. */
  isPictured?: boolean;
}

export interface Flaw {
  page: string;
  what: string;
}

/**
 * Every page in both themes and widths, and what is wrong with it: serious findings of axe, a page wider than the window,
 * complaints on the console.
 */
export async function showPages(browser: Browser, link: string, pages: PageToShow[]): Promise<Flaw[]> {
  const folder = join(OUTPUT, 'pages');
  mkdirSync(folder, { recursive: true });
  const flaws: Flaw[] = [];
  for (const { theme, widths } of LOOKS) {
    const context = await browser.newContext({ colorScheme: theme, reducedMotion: 'reduce' });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    let shown = '';
    const complain = (what: string) => flaws.push({ page: shown, what });
    page.on('console', (message) => message.type() === 'error' && complain(message.text()));
    page.on('pageerror', (error) => complain(error.message));
    await page.goto(link);
    for (const { name, path, isThere, isPictured } of pages) {
      await page.goto(new URL(path, link).href);
      for (const width of widths) {
        shown = `${name}-${theme}-${width}`;
        await page.setViewportSize({ width, height: 900 });
        await isThere(page);
        if (ALL || isPictured) await page.screenshot({ path: join(folder, `${shown}.png`), fullPage: true });
        for (const flaw of await flawsOf(page)) complain(flaw);
      }
    }
    await context.close();
  }
  return flaws;
}

async function flawsOf(page: Page): Promise<string[]> {
  const excess = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  // Without the blank page that it opens for each look: that is for frames of other origins, and there are none.
  // What passed is not described: on a long page that takes longer than the checks.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return [
    ...(excess > 0 ? [`${excess} px wider than the window`] : []),
    ...serious.map(({ id, nodes }) => `axe ${id}: ${nodes.map(({ target }) => target.join(' ')).join(' | ')}`),
  ];
}
