import type { Page, WebSocketRoute } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';

const CONFIG = `workers: 2
pipeline: quick
gates:
  - { name: test, run: "true" }
`;
const SCENARIO = `runs:
  - when: { task: flour, mode: implement }
    do:
      - progress: { percent: 40, text: turning the stones }
      - run: "{door stones}"
      - spend: { inputTokens: 1000, outputTokens: 100, costUsd: 1.25 }
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
const FEED = 50;
/** How often a page without its socket asks. */
const POLL_MS = 5000;
const FIGURES_MS = 10_000;

let page: Page;
const bed = usePages({ config: CONFIG, scenario: SCENARIO }, async () => {
  page = bed.page;
  await page.clock.install();
  await bed.load('/');
});

const stage = (name: string) => page.locator(`[data-stage="${name}"]`);
const region = (name: string | RegExp) => page.getByRole('region', { name });
const header = () => page.getByRole('banner');
const feedLines = (on = page) => on.getByRole('region', { name: 'Activity' }).getByRole('listitem');
const inFeed = (text: string, on = page) => feedLines(on).filter({ hasText: text }).first().waitFor();
const seqs = () => feedLines().evaluateAll((lines) => lines.map((line) => Number(line.getAttribute('data-seq'))));
const banner = (on = page) => on.locator('.banner');

/** A separate page whose socket the test controls. */
async function pageWithSocket(change: (message: string) => string = (message) => message) {
  const own = await bed.timedPage();
  const state = { isDown: false, sockets: [] as WebSocketRoute[] };
  await own.routeWebSocket('**/v1/stream', (socket) => {
    if (state.isDown) return void socket.close();
    state.sockets.push(socket);
    socket.connectToServer().onMessage((message) => socket.send(change(String(message))));
  });
  return { own, state };
}

describe('the overview', { timeout: 4 * PATIENCE_MS }, () => {
  test('opens only with its link', async () => {
    const other = await bed.browser.newContext();
    const stranger = await other.newPage();
    expect((await stranger.goto(`${bed.daemon.url}/?token=wrong`))?.status()).toBe(401);
    expect(await stranger.textContent('main')).toContain('tidemill status');
    expect((await stranger.goto(bed.daemon.url))?.status()).toBe(401);
    expect((await stranger.goto(`${bed.daemon.url}/v1/projects`))?.status()).toBe(401);
    await other.close();
    expect(page.url()).toBe(`${bed.daemon.url}${bed.address('/')}`);
  });

  test('without a task it says how to add one, and what an agent can access', async () => {
    await page.getByText('Ready.').waitFor();
    await region('What an agent can access').getByText('It never changes main').waitFor();
    await bed.picture('overview-empty', true);
    await page.getByRole('link', { name: 'Add your first task' }).click();
    await page.getByRole('dialog').getByLabel('Title').waitFor();
    await page.keyboard.press('Escape');
    await bed.show('Overview');
  });

  test('shows a task from open to landed, with its phase, percent and cost', async () => {
    await page.evaluate('window.loadedOnce = true');
    await header().getByText('Today $0.00 of $50').waitFor();
    await bed.add(HOSTILE);
    await bed.add('Bake bread', { after: [1] });
    await inFeed('added it');
    const working = region('Working now');
    await working.getByText('implement').waitFor();
    await working.getByText('40 %').waitFor();
    await working.getByText('turning the stones').waitFor();
    expect(await working.getByRole('progressbar').getAttribute('value')).toBe('40');
    await stage('implement').getByText('agent-1').or(stage('implement').getByText('agent-2')).waitFor();
    await stage('open').getByText('1', { exact: true }).waitFor();
    await header().getByText('1 worker working').waitFor();

    bed.openDoor('stones');
    await stage('done').getByText('2', { exact: true }).waitFor();
    // This figure is only asked for at intervals.
    await page.clock.fastForward(FIGURES_MS);
    await stage('done').getByText('2 landed in 24 h').waitFor();
    await header().getByText('Today $1.25 of $50').waitFor();
    await header().getByText('Month $1.25 of $500').waitFor();
    await region('Spend today').getByText('$1.25', { exact: true }).waitFor();
    await inFeed('landed it as');
    const git = bed.repository.git('log', '-1', '--format=%H %(trailers:key=Evidence,valueonly)', 'main').split(' ');
    const newest = region(/^Landed on main/)
      .getByRole('listitem')
      .first();
    await newest.getByText('Bake bread').waitFor();
    await newest.getByText(git[0]!.slice(0, 10)).waitFor();
    await newest.getByText(git[1]!.trim().slice(0, 10)).waitFor();
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
  });

  test('markup in a title is text', async () => {
    const landed = region(/^Landed on main/);
    await landed.getByText(HOSTILE).waitFor();
    expect(await page.evaluate('window.pwned')).toBeUndefined();
  });

  test('shows what needs a person, with its reason and a link; its gate is closed', async () => {
    await stage('implement').getByRole('img', { name: 'gate open' }).waitFor();
    await bed.add('Look after idle hands');
    await bed.add('Say which grain');
    const needs = region(/^Needs you/);
    await needs.getByText('the agent changed nothing').waitFor();
    await needs.getByText('Rye or wheat?').waitFor();
    await stage('implement').getByRole('img', { name: 'gate closed' }).waitFor();
    await stage('implement')
      .getByText(/#3 waiting: the agent changed nothing, and 1 more/)
      .waitFor();
    await stage('verify').getByRole('img', { name: 'gate open' }).waitFor();
    await expect.poll(() => page.title(), { timeout: PATIENCE_MS }).toMatch(/^\(\d+\) /);
    expect(await needs.getByRole('link', { name: 'Answer #4' }).getAttribute('href')).toBe(
      bed.address('/tasks/4?tab=conversation'),
    );
    // By keyboard: selects the first item and opens it.
    await needs.getByRole('link', { name: 'Open #3' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url(), { timeout: PATIENCE_MS }).toContain('/tasks/3');
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await needs.waitFor();
  });

  test('the feed shows the last 50 events and removes older ones', async () => {
    for (let index = 0; index < FEED + 5; index += 1) await bed.add(`Sack ${index}`, { after: [3] });
    await inFeed('Sack 54');
    await page.reload();
    await expect.poll(() => feedLines().count(), { timeout: PATIENCE_MS }).toBe(FEED);
    const before = await seqs();
    expect(before).toEqual(before.toSorted((a, b) => b - a));
    await bed.add('One sack more', { after: [3] });
    await inFeed('One sack more');
    const after = await seqs();
    expect(after).toHaveLength(FEED);
    expect(after).toEqual(after.toSorted((a, b) => b - a));
    expect(Math.max(...before)).toBeLessThan(after[0]!);
    expect(Math.min(...after)).toBeGreaterThan(before.at(-1)!);
  });

  test('fits wide and narrow, light and dark, with titles of 3 and 300 characters', async () => {
    await bed.add('x'.repeat(300), { after: [3] });
    await bed.add('Oil', { after: [3] });
    await inFeed('Oil');
    for (const width of [1280, 380]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await bed.picture(`overview-${colorScheme}-${width}`, true);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('loads nothing from elsewhere and breaks no rule of its policy', () => {
    expect(bed.requested.filter((url) => !url.startsWith(`${bed.daemon.url}/`))).toEqual([]);
    expect(bed.complaints).toEqual([]);
  });

  test('without its socket the page says so and polls, and recovers automatically', async () => {
    const { own, state } = await pageWithSocket();
    await own.goto(bed.link);
    await own.getByText('live', { exact: true }).waitFor();
    state.isDown = true;
    await Promise.all(state.sockets.map((socket) => socket.close()));
    await banner(own).getByText('updates every 5 seconds').waitFor();
    await own.getByText('every 5 s', { exact: true }).waitFor();
    await bed.add('Told without a socket', { after: [3] });
    await own.clock.fastForward(POLL_MS);
    await inFeed('Told without a socket', own);
    state.isDown = false;
    await own.clock.fastForward(POLL_MS);
    await own.getByText('live', { exact: true }).waitFor();
    await banner(own).waitFor({ state: 'detached' });
    await bed.add('Told by the socket', { after: [3] });
    await inFeed('Told by the socket', own);
    await own.context().close();
  });

  test('says which step of preparing runs, and for how long', async () => {
    const running = '"preparing":[{"step":"npm ci","elapsedMs":40000}]';
    const preparing = (message: string) => message.replaceAll('"preparing":[]', running);
    const { own } = await pageWithSocket(preparing);
    await own.route('**/status', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: preparing(await response.text()) });
    });
    await own.goto(bed.link);
    const now = own.getByRole('region', { name: 'Working now' });
    await now.getByText(/^preparing: npm ci, 4\d s$/).waitFor();
    await own.unrouteAll({ behavior: 'ignoreErrors' });
    await own.context().close();
  });

  test('a part that cannot be loaded shows an error, and the frame stays', async () => {
    const own = await bed.context.newPage();
    await own.route('**/assets/fleet-page-*.js', (route) => route.abort());
    await bed.load('/', own);
    const tab = (name: string) => own.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name });
    await tab('Fleet').click();
    await own.getByText('This page could not be shown').waitFor();
    await own.getByRole('button', { name: 'Reload' }).waitFor();
    await tab('Overview').click();
    await own.getByRole('region', { name: 'Working now' }).waitFor();
    await own.close();
  });

  test('the page detects a daemon of another version and offers a reload', async () => {
    const { version } = (await bed.api.status({ project: bed.project })).daemon!;
    let isUpgraded = false;
    const upgraded = (text: string) => (isUpgraded ? text.replaceAll(`"${version}"`, '"99.0.0"') : text);
    const { own } = await pageWithSocket(upgraded);
    await own.route('**/status', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: upgraded(await response.text()) });
    });
    await own.goto(bed.link);
    await own.getByText('live', { exact: true }).waitFor();
    expect(await banner(own).count()).toBe(0);
    isUpgraded = true;
    await bed.add('Says how it stands', { after: [3] });
    await banner(own).getByText('The daemon was upgraded').waitFor();
    await banner(own).getByRole('button', { name: 'Reload' }).click();
    await own.getByText('live', { exact: true }).waitFor();
    await banner(own).waitFor({ state: 'detached' });
    // A request may be under way.
    await own.unrouteAll({ behavior: 'ignoreErrors' });
    await own.context().close();
  });

  test('says when the daemon is gone and how to get the new link, and continues automatically', async () => {
    await page.evaluate('window.loadedOnce = true');
    await bed.kill();
    await banner()
      .getByText(/^Offline: the daemon does not respond/)
      .waitFor();
    await stage('done').getByText('2', { exact: true }).waitFor();
    await bed.picture('overview-offline');

    await bed.revive();
    await page.clock.fastForward(POLL_MS);
    await banner()
      .getByText(/restarted.*new link/)
      .waitFor();
    await banner().getByText('tidemill status', { exact: true }).waitFor();
    await bed.picture('overview-new-link');
    const { stdout } = await bed.machine.run(['status'], bed.repository.root);
    const link = /^Page: (\S+)$/m.exec(stdout)?.[1];
    expect(link).toBe(bed.daemon.link);
    const second = await bed.context.newPage();
    await second.goto(link!);
    await second.getByText('live', { exact: true }).waitFor();
    // The first tab has the new cookie too, and reconnects automatically.
    await page.clock.fastForward(POLL_MS);
    await page.getByText('live', { exact: true }).waitFor();
    await banner()
      .getByText(/new link/)
      .waitFor({ state: 'detached' });
    await bed.add('After the storm');
    await stage('done').getByText('3', { exact: true }).waitFor();
    await inFeed('After the storm');
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
    await second.close();
  });
});
