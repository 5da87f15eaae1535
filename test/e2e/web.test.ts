import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDaemon, TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const OUTPUT = join(ROOT, 'test', 'output');
const BROWSER_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const CONFIG = `target: main
workers: 2
pipeline: quick
agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
gates:
  - { name: test, run: "true" }
`;
const SCENARIO = `runs:
  - when: { task: flour, mode: implement }
    do:
      - progress: { percent: 40, text: turning the stones }
      - think: 1500
      - write: { path: "flour-{taskNumber}.txt", content: "flour\\n" }
      - result: { summary: ground }
  - when: { task: idle hands, mode: implement }
    do: [ { lie: {} } ]
  - when: { task: which grain, mode: implement }
    do: [ { ask: { questions: ["Rye or wheat?"] } } ]
default:
  implement:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
`;
const HOSTILE = 'Grind flour <img src=x onerror="window.pwned=1"><script>window.pwned=1</script>';

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
/** Patience for what the page shows by itself, on a machine that is busy with other tests too. */
const PATIENCE_MS = 30_000;
const missing = 'no chromium on PATH (Debian package chromium)';

let machine: TidemillHome;
let repository: TemporaryRepository;
let daemon: RunningDaemon;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let api: Api;
let project: string;
const complaints: string[] = [];
const requested: string[] = [];

const tokenOf = (link: string) => new URL(link).searchParams.get('token') as string;
const row = (number: number) => page.locator(`[data-task="${number}"]`);
const stage = (name: string) => page.locator(`[data-stage="${name}"]`);
const region = (name: string | RegExp) => page.getByRole('region', { name });

beforeAll(async () => {
  if (!executablePath) return;
  // What `npm test` has done already; here for whoever runs this file alone.
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'ensure-page.mjs')]);
  mkdirSync(OUTPUT, { recursive: true });
  machine = new TidemillHome();
  repository = new TemporaryRepository({ '.tidemill/config.yaml': CONFIG, '.tidemill/scenario.yaml': SCENARIO });
  daemon = await machine.up(repository.root);
  api = createClient({ url: daemon.url, token: tokenOf(daemon.link) });
  project = (await api.projects({}))[0]!.id;
  browser = await chromium.launch({
    executablePath,
    args: BROWSER_ARGS,
    env: { ...(machine.env as Record<string, string>) },
  });
  context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE_MS);
  page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => requested.push(request.url()));
});
afterAll(async () => {
  await browser?.close();
  await machine?.close();
  repository?.remove();
});

describe('the page', { timeout: 3 * PATIENCE_MS }, () => {
  test('opens by its link only', async ({ skip }) => {
    skip(!executablePath, missing);
    const other = await browser.newContext();
    const stranger = await other.newPage();
    expect((await stranger.goto(`${daemon.url}/?token=wrong`))?.status()).toBe(401);
    expect(await stranger.textContent('main')).toContain('tidemill status');
    expect((await stranger.goto(daemon.url))?.status()).toBe(401);
    expect((await stranger.goto(`${daemon.url}/v1/projects`))?.status()).toBe(401);
    await other.close();

    await page.goto(daemon.link);
    expect(page.url()).toBe(`${daemon.url}/`);
    await page.getByText('No tasks yet').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.screenshot({ path: join(OUTPUT, 'web-empty.png'), fullPage: true });
  });

  test('shows a task go from open to done, without being loaded again', async ({ skip }) => {
    skip(!executablePath, missing);
    await page.evaluate('window.loadedOnce = true');
    await api.addTask({ project, title: HOSTILE });
    await api.addTask({ project, title: 'Bake bread', after: [1] });
    await row(2).getByText('open').waitFor();
    await region('Working now').getByText('40 % turning the stones').waitFor();
    await stage('implement')
      .getByText(/agent-\d #1/)
      .waitFor();
    await row(1).getByText('done').waitFor();
    await row(2).getByText('done').waitFor();
    await stage('done').getByText('2', { exact: true }).waitFor();

    const commit = repository.git('log', '-1', '--format=%H %(trailers:key=Evidence,valueonly)', 'main').split(' ');
    const newest = region(/^Landed on main/)
      .getByRole('listitem')
      .first();
    await newest.getByText('Bake bread').waitFor();
    await newest.getByText(commit[0]!.slice(0, 10)).waitFor();
    await newest.getByText(commit[1]!.trim().slice(0, 10)).waitFor();
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
  });

  test('shows what is written in a title as text', async ({ skip }) => {
    skip(!executablePath, missing);
    expect(await row(1).locator('.title').textContent()).toBe(HOSTILE);
    expect(await page.evaluate('window.pwned')).toBeUndefined();
  });

  test('says what needs a person, why, and the command; the gate is shut', async ({ skip }) => {
    skip(!executablePath, missing);
    await api.addTask({ project, title: 'Look after idle hands' });
    await api.addTask({ project, title: 'Say which grain' });
    const needs = region('Needs you 2');
    await needs.waitFor();
    await needs.getByText('tidemill task retry 3', { exact: true }).waitFor();
    await needs.getByText('Rye or wheat?').waitFor();
    await stage('implement').getByRole('img', { name: 'gate shut' }).waitFor();
    await stage('implement')
      .getByText(/#3 held: the agent changed nothing, and 1 more/)
      .waitFor();
    await stage('verify').getByRole('img', { name: 'gate open' }).waitFor();
    expect(await page.title()).toMatch(/^\(2\) /);
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: daemon.url });
    await page.getByRole('button', { name: 'Copy tidemill task retry 3' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('tidemill task retry 3');
  });

  test('finds tasks by the keyboard, and keeps the filter over a reload', async ({ skip }) => {
    skip(!executablePath, missing);
    await page.keyboard.press('/');
    await page.keyboard.type('bread done');
    await expect.poll(() => page.locator('[data-task]').count(), { timeout: PATIENCE_MS }).toBe(1);
    await page.reload();
    await row(2).waitFor();
    expect(await page.locator('[data-task]').count()).toBe(1);
    await page.getByRole('searchbox').fill('');
    await row(4).waitFor();
  });

  test('fits wide and narrow, light and dark, with a long title', async ({ skip }) => {
    skip(!executablePath, missing);
    await api.addTask({ project, title: 'x'.repeat(300), after: [3] });
    await api.addTask({ project, title: 'Grind more flour' });
    await row(6).waitFor();
    for (const width of [1280, 380]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(OUTPUT, `web-${colorScheme}-${width}.png`), fullPage: true });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
    await row(6).getByText('done').waitFor();
  });

  test('loads nothing from elsewhere and breaks no rule of its policy', async ({ skip }) => {
    skip(!executablePath, missing);
    expect(requested.filter((url) => !url.startsWith(`${daemon.url}/`))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('says when the daemon is gone, how to get the new link, and goes on by itself', async ({ skip }) => {
    skip(!executablePath, missing);
    await page.evaluate('window.loadedOnce = true');
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    const banner = page.getByRole('alert');
    await banner.getByText(/^Offline: the daemon does not answer/).waitFor();
    expect(await row(6).isVisible()).toBe(true);
    await page.screenshot({ path: join(OUTPUT, 'web-offline.png') });

    daemon = await machine.up(repository.root, '--port', new URL(daemon.url).port);
    await banner.getByText(/started anew.*new link/).waitFor();
    await banner.getByText('tidemill status', { exact: true }).waitFor();
    await page.screenshot({ path: join(OUTPUT, 'web-new-link.png') });

    const { stdout } = await machine.run(['status'], repository.root);
    const link = /^Page: (\S+)$/m.exec(stdout)?.[1] as string;
    expect(link).toBe(daemon.link);
    const second = await context.newPage();
    await second.goto(link);
    await second.getByText('live', { exact: true }).waitFor();
    // The first tab has the new cookie too, and finds out by itself.
    await page.getByText('live', { exact: true }).waitFor();
    await expect.poll(() => banner.textContent(), { timeout: PATIENCE_MS }).toBe('');
    await createClient({ url: daemon.url, token: tokenOf(link) }).addTask({ project, title: 'After the storm' });
    await row(7).getByText('done').waitFor();
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
  });
});
