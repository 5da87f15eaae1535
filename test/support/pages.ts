import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { picture } from './browser.ts';
import type { PageBed } from './page-bed.ts';

const AXE = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
);
/** What passed is not described: on a long page that takes longer than the checks. */
const FIND = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => 'axe ' + id + ': ' + nodes.map(({ target }) => target.join(' ')).join(' | ')))`;

/** A box that now scrolls can be focused only after the page has measured it, in the frame after. */
const DRAWN = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))';

interface Look {
  theme: 'light' | 'dark';
  width: number;
}

/** Narrow and dark, wide and light. */
export const LOOKS: Look[] = [
  { theme: 'dark', width: 380 },
  { theme: 'light', width: 1280 },
];
/** `npm run screenshots` and the long tests look at the other two as well. */
export const ALL_LOOKS: Look[] = [{ theme: 'light', width: 380 }, { theme: 'dark', width: 1280 }, ...LOOKS];

/** A page of the dashboard, and how to detect that it is loaded. */
export interface PageToShow {
  name: string;
  path: string;
  isThere(page: Page): Promise<unknown>;
  /** The daemon serves it apart from the others, so it is the last. */
  isApart?: boolean;
}

/**
 * Opens each page and says what is wrong with it: serious findings of axe, a page wider than the window, complaints on the
 * console.
 */
export async function showPages(bed: PageBed, pages: PageToShow[], looks = LOOKS): Promise<string[]> {
  const flaws: string[] = [];
  for (const { name, path, isThere, isApart } of pages) {
    const before = bed.complaints.length;
    await (isApart ? bed.load(path) : bed.visit(path));
    // One look is enough for a page that takes axe seconds and has one column of text.
    flaws.push(...(await flawsOf(bed.page, name, isApart ? looks.slice(-looks.length / 2) : looks, isThere)));
    flaws.push(...bed.complaints.slice(before).map((text) => `${name}: ${text}`));
  }
  return flaws;
}

/** What is wrong with the page as it is now. It stays wide and light. */
export async function flawsOf(
  page: Page,
  name: string,
  looks = LOOKS,
  isThere: PageToShow['isThere'] = async () => undefined,
): Promise<string[]> {
  const flaws: string[] = [];
  for (const { theme, width } of looks) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme });
    await isThere(page);
    await page.evaluate(DRAWN);
    await picture(page, `pages/${name}-${theme}-${width}`, true);
    for (const flaw of await flawsHere(page)) flaws.push(`${name} ${theme} ${width}: ${flaw}`);
  }
  return flaws;
}

async function flawsHere(page: Page): Promise<string[]> {
  const excess = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  // Once for each document: it is half a megabyte.
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(AXE);
  const serious = (await page.evaluate(FIND)) as string[];
  return [...(excess > 0 ? [`${excess} px wider than the window`] : []), ...serious];
}
