import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { hasBrowser, launchBrowser, NO_BROWSER } from '../test/support/browser.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { interleaved, median, percentile } from './sample.ts';
import { withServedProject } from './served-project.ts';

const TASKS = 10_000;
const CHUNK = 2_000;
/** A hand at the wheel: so far, so often. */
const WHEEL_PX = 600;
const WHEEL_MS = 30;

const LIST = '[data-column="open"] .column-scroll';
/** The same length without anything of ours: what this browser on this machine can do at best. */
const BARE = `<!doctype html><title>bare</title><style>.column-scroll{height:700px;overflow:auto}p{height:78px}</style>
<div data-column="open"><div class="column-scroll">${'<p>Sort the tide table</p>'.repeat(TASKS)}</div></div>`;

/** The board with ten thousand tasks in one column, scrolled with a wheel in a real browser. */
export async function run(options: BenchOptions): Promise<Section> {
  if (!hasBrowser) throw new Error(NO_BROWSER);
  return withServedProject(async ({ folder, url, token, api, project }) => {
    const browser = await launchBrowser({ ...process.env, HOME: folder });
    try {
      for (let first = 0; first < TASKS; first += CHUNK)
        await api.importTasks({ project, tasks: Array.from({ length: CHUNK }, (_, index) => taskOf(first + index)) });
      const seconds = sized(options, 5, 1);
      const frames = { ours: [] as number[], bare: [] as number[] };
      const reached: number[] = [];
      const scrolled = (name: keyof typeof frames, open: (page: Page) => Promise<unknown>) => async () => {
        const { deltas, top } = await scroll(browser, seconds, open);
        frames[name].push(...deltas);
        if (name === 'ours') reached.push(top);
        return percentile(deltas, 0.95);
      };
      const link = `${url}/?token=${token}&to=${encodeURIComponent(`/board?project=${project}`)}`;
      await interleaved(sized(options, 3, 1), {
        ours: scrolled('ours', (page) => page.goto(link)),
        bare: scrolled('bare', (page) => page.setContent(BARE)),
      });
      const figure = (name: string, of: (samples: number[]) => number) => ({
        name,
        value: of(frames.ours),
        unit: 'ms',
        peer: { name: 'a list of as many plain lines in the same browser', value: of(frames.bare) },
      });
      return {
        name: 'board',
        title: `The board scrolled, ${TASKS.toLocaleString('en')} tasks in one column`,
        rows: [
          row(figure('a frame, median', median)),
          row({ ...figure('a frame, p95', (samples) => percentile(samples, 0.95)), target: { atMost: 50 } }),
          row(figure('the longest frame', (samples) => Math.max(...samples))),
        ],
        notes: [
          `${frames.ours.length} frames, ${WHEEL_PX} px every ${WHEEL_MS} ms for ${seconds} s, pages read meanwhile; it came ${Math.round(median(reached)).toLocaleString('en')} px far. Drawn without a graphics card; browser and daemon share the machine.`,
        ],
      };
    } finally {
      await browser.close();
    }
  });
}

const WORDS = [
  'early',
  'before the flood comes in and takes the old wheel with it once more',
  'so that both sides agree',
];
const taskOf = (index: number) => ({
  title: `Sort the tide table, part ${index + 1} ${WORDS[index % WORDS.length]}`,
  accept: ['it is sorted'],
  priority: index % 5,
});

/** Written as text: it runs in the browser, whose names this program does not know. */
const NOTE_FRAMES = `window.frames_ = [];
requestAnimationFrame(function note(at) {
  window.frames_.push(at);
  requestAnimationFrame(note);
});`;

async function scroll(browser: Browser, seconds: number, open: (page: Page) => Promise<unknown>) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await open(page);
  const list = page.locator(LIST);
  await list.hover();
  // What loading left to do is not scrolling.
  await delay(1000);
  await page.evaluate(NOTE_FRAMES);
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until) {
    const next = delay(WHEEL_MS);
    await page.mouse.wheel(0, WHEEL_PX);
    await next;
  }
  const times = (await page.evaluate('window.frames_')) as number[];
  const top = Number(await page.evaluate(`document.querySelector('${LIST}').scrollTop`));
  await context.close();
  return { deltas: times.slice(1).map((at, index) => at - times[index]!), top };
}
