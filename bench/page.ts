import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { hasBrowser, launchBrowser, NO_BROWSER } from '../test/support/browser.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { median, paced, percentile } from './sample.ts';
import { withServedProject } from './served-project.ts';

const TASKS = 1000;
const EVENTS_PER_SECOND = 200;
/** Beneath a local page: what the browser itself takes to show one that is there at once. */
const BLANK = '<!doctype html><title>bare</title><ol class="mill"><li data-stage="open">0</li></ol>';

/** What a person sees, in a real browser: how soon the first page can be used, and how soon an event is on it. */
export async function run(options: BenchOptions): Promise<Section> {
  if (!hasBrowser) throw new Error(NO_BROWSER);
  return withServedProject(async ({ folder, url, token, api, project }) => {
    const browser = await launchBrowser({ ...process.env, HOME: folder });
    try {
      const task = (index: number) => ({ title: `Sort the tide table, part ${index}`, accept: ['it is sorted'] });
      await api.importTasks({ project, tasks: Array.from({ length: TASKS }, (_, index) => task(index)) });
      const link = `${url}/?token=${token}&to=${encodeURIComponent(`/?project=${project}`)}`;

      const first = await coldLoads(browser, link, sized(options, 7, 2));
      const lags = await eventsOnScreen(browser, link, sized(options, 10, 2), (index) =>
        api.addTask({ project, ...task(index) }),
      );
      return {
        name: 'page',
        title: `The page in a browser, ${TASKS} tasks`,
        rows: [
          row({
            name: 'first page usable, cold, median',
            value: median(first.ours),
            unit: 'ms',
            peer: { name: 'a page without scripts in the same browser', value: median(first.bare) },
            target: { atMost: 1000 },
          }),
          row({ name: 'script before lazy parts, gzip', value: first.scriptKb, unit: 'kB', target: { atMost: 250 } }),
          row({ name: 'an event from its commit to the screen, median', value: median(lags), unit: 'ms' }),
          row({
            name: 'an event from its commit to the screen, p99',
            value: percentile(lags, 0.99),
            unit: 'ms',
            target: { atMost: 200 },
          }),
        ],
        notes: [
          `${lags.length} events at ${EVENTS_PER_SECOND} a second, each a task added over HTTP; on screen is the first frame after the line stood in the feed. Browser, daemon and load share the machine.`,
        ],
      };
    } finally {
      await browser.close();
    }
  });
}

/** Written as text: it runs in the browser, whose names this program does not know. */
const NOTE_FIRST_MILL = `new MutationObserver((_, self) => {
  if (!document.querySelector('.mill [data-stage]')) return;
  self.disconnect();
  requestAnimationFrame(() => { document.documentElement.dataset.usableAt = performance.now(); });
}).observe(document, { childList: true, subtree: true });`;

async function coldLoads(browser: Browser, link: string, rounds: number) {
  const [ours, bare] = [[] as number[], [] as number[]];
  let scriptKb = 0;
  for (let round = 0; round < rounds; round += 1) {
    bare.push(
      await loadOnce(browser, async (page) => {
        await page.route('http://bare.invalid/', (route) => route.fulfill({ contentType: 'text/html', body: BLANK }));
        await page.goto('http://bare.invalid/');
      }),
    );
    let bytes = 0;
    ours.push(
      await loadOnce(browser, async (page) => {
        page.on('response', async (response) => {
          if (response.url().endsWith('.js')) bytes += gzipSync(await response.body()).length;
        });
        await page.goto(link);
      }),
    );
    scriptKb = bytes / 1000;
  }
  return { ours, bare, scriptKb };
}

async function loadOnce(browser: Browser, go: (page: Page) => Promise<void>): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(NOTE_FIRST_MILL);
  await go(page);
  const usable = page.locator('html[data-usable-at]');
  await usable.waitFor({ state: 'attached' });
  const usableAt = await usable.getAttribute('data-usable-at');
  await context.close();
  return Number(usableAt);
}

const NOTE_LAGS = `window.lags = [];
new MutationObserver((changes) => {
  const fresh = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.dataset?.seq);
  if (fresh.length === 0) return;
  const times = fresh.map((node) => Date.parse(node.querySelector('time').dateTime));
  requestAnimationFrame(() => { for (const at of times) window.lags.push(Date.now() - at); });
}).observe(document.querySelector('.activity ol'), { childList: true });`;

async function eventsOnScreen(
  browser: Browser,
  link: string,
  seconds: number,
  add: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(link);
  await page.getByText('live', { exact: true }).waitFor();
  await page.locator('.activity li').first().waitFor();
  await page.evaluate(NOTE_LAGS);
  await paced(EVENTS_PER_SECOND, seconds, add);
  await delay(1000);
  const lags = (await page.evaluate('window.lags')) as number[];
  await context.close();
  return lags;
}
