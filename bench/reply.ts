import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@tidemill/contract/client';
import type { Page } from 'playwright-core';
import { hasBrowser, launchBrowser, NO_BROWSER } from '../test/support/browser.ts';
import { addressOf, CHECKOUT, startDaemon } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { makeRepository } from './repository.ts';
import { row, type Section } from './row.ts';
import { median } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

/** Its first word is the time at which it is written. The agent is quiet before it, as a model that thinks. */
const SCENARIO = `runs:
  - when: { mode: ideate }
    do: [ { think: 500 }, { run: "date +%s%3N" }, { think: 700 }, { result: { ideation: { reply: "Go on." } } } ]
`;
const CONFIG =
  'target: main\nworkers: 1\nuntested: true\nagents:\n  default: { type: scripted, script: .tidemill/scenario.yaml }\n';

/** Written as text: it runs in the browser. The first frame after the word stood in the page. */
const NOTE_FIRST_WORD = `new MutationObserver(() => {
  const text = document.querySelector('[data-writing]')?.textContent ?? '';
  if (text === '' || window.word === text) return;
  window.word = text;
  requestAnimationFrame(() => { (window.lags ??= []).push(Date.now() - Number.parseInt(text, 10)); });
}).observe(document, { childList: true, subtree: true, characterData: true });`;

/** How soon a person reads the first word of a reply about an idea, in a real browser. */
export async function run(options: BenchOptions): Promise<Section> {
  if (!hasBrowser) throw new Error(NO_BROWSER);
  return inTemporaryFolder(async (folder) => {
    const [root, home] = [join(folder, 'worked'), join(folder, 'home')];
    await makeRepository(root);
    await mkdir(join(root, '.tidemill'));
    await writeFile(join(root, '.tidemill', 'scenario.yaml'), SCENARIO);
    await writeFile(join(root, '.tidemill', 'config.yaml'), CONFIG);
    const daemon = await startDaemon(root, home, 1, CHECKOUT);
    const browser = await launchBrowser({ ...process.env, HOME: folder });
    try {
      const { url, token } = await addressOf(home);
      const api = createClient({ url, token });
      const project = (await api.projects({}))[0]!.id;
      await api.createIdea({ project, text: 'A tide table' });
      const page = await browser.newPage();
      await page.goto(`${url}/?token=${token}&to=${encodeURIComponent(`/ideas/1?project=${project}`)}`);
      const lags = await firstWords(page, sized(options, 20, 3));
      return {
        name: 'reply',
        title: 'A reply about an idea, from the agent to the screen',
        rows: [
          row({ name: 'first word, median', value: median(lags), unit: 'ms', target: { atMost: 150 } }),
          row({ name: 'first word, slowest', value: Math.max(...lags), unit: 'ms' }),
        ],
        notes: [`${lags.length} replies of the scripted agent. Browser, daemon and agent share the machine.`],
      };
    } finally {
      await browser.close();
      await daemon.stop();
    }
  });
}

async function firstWords(page: Page, replies: number): Promise<number[]> {
  await page.locator('.message.agent:not(.writing)').first().waitFor();
  await page.evaluate(NOTE_FIRST_WORD);
  for (let said = 1; said <= replies; said += 1) {
    await page.locator('#message').fill(`And ${said}?`);
    await page.keyboard.press('Enter');
    await page.locator('.message.agent:not(.writing)').nth(said).waitFor();
  }
  return (await page.evaluate('window.lags')) as number[];
}
