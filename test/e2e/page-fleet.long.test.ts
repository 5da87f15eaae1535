import type { WorkerView } from '@tidemill/contract';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';

const CONFIG = `workers: 2
pipeline: quick
gates:
  - { name: test, run: "true" }
`;
const SCENARIO = `runs:
  - when: { task: stones, mode: implement }
    do:
      - progress:
          percent: 40
          text: turning the stones
          todo: [ { text: Lift the stones, status: done }, { text: Turn them, status: active } ]
      - spend: { inputTokens: 1000, outputTokens: 100, costUsd: 0.75 }
      - run: "{door stones}"
      - write: { path: "stones-{taskNumber}.txt", content: "even\\n" }
      - result: { summary: turned }
  - when: { task: wheel, mode: implement }
    do:
      - run: "{door wheel}"
      - write: { path: "wheel-{taskNumber}.txt", content: "round\\n" }
      - result: { summary: turned }
  - when: { task: boiler, mode: implement }
    do: [ { crash: { exitCode: 3 } } ]
default:
  implement:
    - spend: { inputTokens: 1000, outputTokens: 100, costUsd: 0.5 }
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
`;
const MOST = 10;

let page: Page;
const bed = usePages({ config: CONFIG, scenario: SCENARIO }, () => {
  page = bed.page;
});

const card = (name: string) => page.getByRole('listitem', { name, exact: true });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const summary = () => page.getByRole('region', { name: 'All agents' });
const workers = () => bed.api.workers({ project: bed.project });
const busy = async () => (await workers()).filter(({ task, role }) => task !== null && role === 'builder');
/** The number of a figure, without its label. */
const figure = async (within: ReturnType<typeof card>, name: string) =>
  (await within.locator('dl > div').filter({ hasText: name }).locator('dd').first().textContent()) ?? '';

async function until(isSo: (workers: WorkerView[]) => boolean): Promise<void> {
  await expect.poll(async () => isSo(await workers()), { timeout: PATIENCE_MS }).toBe(true);
}

describe('the fleet', { timeout: 4 * PATIENCE_MS }, () => {
  test('shows all agents with their status, which updates automatically', async () => {
    await bed.show('Fleet');
    await page.evaluate('window.loadedOnce = true');
    for (const name of ['agent-1', 'agent-2', 'review-agent']) await card(name).getByText('idle').waitFor();
    await page.getByText('3 agents · 0 active · 3 idle').waitFor();
    await bed.add('Turn the stones');
    await page.getByText('3 agents · 1 active · 2 idle').waitFor();
    const [worker] = await busy();
    await card(worker!.name).getByText('working', { exact: true }).waitFor();
    await card(worker!.name).getByText('Turn the stones').waitFor();
    await card(worker!.name).getByText('40 %').waitFor();
    await card(worker!.name).getByText('To do: 1 of 2 done').click();
    await card(worker!.name).getByText('done: Lift the stones').waitFor();
    await card(worker!.name).getByText('in progress: Turn them').waitFor();
    expect(await page.evaluate('window.loadedOnce')).toBe(true);
  });

  test('Pause pauses the agent and becomes Resume, and back', async () => {
    const [{ name }] = (await busy()) as [WorkerView];
    await button(`Pause ${name}`).click();
    await button(`Resume ${name}`).waitFor();
    await card(name).getByText('paused', { exact: true }).waitFor();
    await card(name).getByText('pauses after this stage').waitFor();
    expect(await button(`Pause ${name}`).count()).toBe(0);
    await until((all) => all.some((worker) => worker.name === name && worker.desired === 'paused'));
    await button(`Resume ${name}`).click();
    await button(`Pause ${name}`).waitFor();
    await card(name).getByText('working', { exact: true }).waitFor();
  });

  test('the picker gives a task to another agent', async () => {
    const [{ name }] = (await busy()) as [WorkerView];
    const other = name === 'agent-1' ? 'agent-2' : 'agent-1';
    await card(name).getByRole('button', { name: 'Reassign #1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reassign #1?' });
    await dialog.getByText(`${name} stops working on Turn the stones`).waitFor();
    await dialog.getByRole('combobox').selectOption(other);
    await dialog.getByRole('button', { name: 'Reassign', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await card(other).getByText('Turn the stones').waitFor();
    await card(name).getByText('idle', { exact: true }).waitFor();
    bed.openDoor('stones');
    await card(other).getByText('idle', { exact: true }).waitFor();
    await card(other).getByText('1 done').waitFor();
  });

  test('an agent that crashes has a red badge and its error in the card', async () => {
    await bed.add('Heat the boiler');
    const crashed = page.locator('.worker.wrong').first();
    await crashed.getByText('crashed', { exact: true }).waitFor();
    await crashed.getByText(/exited with code 3/).waitFor();
    // It retries a few times; between the crashes it is busy.
    const isRed = `(() => {
      const badge = document.querySelector('.worker.wrong .state');
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(--crash)';
      const red = getComputedStyle(probe).color;
      probe.remove();
      return badge !== null && getComputedStyle(badge).color === red;
    })()`;
    await expect.poll(() => page.evaluate(isRed), { timeout: PATIENCE_MS }).toBe(true);
    await bed.picture('fleet-crashed', true);
    await bed.api.cancelTask({ project: bed.project, task: 2 });
  });

  test('a card unfolds all its figures, and the summary is the sum of all agents', async () => {
    await bed.add('Sweep the floor');
    await expect.poll(() => figure(summary(), 'Tasks done'), { timeout: PATIENCE_MS }).toBe('2');
    const metrics = await bed.api.metrics({ project: bed.project, period: '24h' });
    const agents = metrics.workers.filter(({ role }) => role === 'builder' || role === 'reviewer');
    let cost = 0;
    for (const { name, costUsd } of agents) {
      await card(name).getByText('Figures').click();
      expect(await card(name).locator('dt').allTextContents()).toEqual([
        'Tasks done',
        'Cycle time',
        'First review passed',
        'Errors',
        'Cost',
        'Cost per task',
        'Utilisation',
      ]);
      expect(await figure(card(name), 'Cost')).toBe(`$${costUsd.toFixed(2)}`);
      cost += costUsd;
    }
    expect(cost).toBeGreaterThan(1);
    expect(await figure(summary(), 'Cost')).toBe(`$${cost.toFixed(2)}`);
    expect(metrics.total.costUsd).toBeCloseTo(cost, 6);
    const errors = agents.reduce((sum, worker) => sum + worker.errors, 0);
    expect(errors).toBeGreaterThan(0);
    expect((await figure(summary(), 'Errors')).startsWith(`${errors},`)).toBe(true);
  });

  test('shows all agents side by side, each figure with a colour and a word', async () => {
    await page.keyboard.press('v');
    const table = page.getByRole('region', { name: 'Comparison' });
    await table.getByRole('columnheader', { name: 'agent-1' }).waitFor();
    expect(await table.getByRole('columnheader').allTextContents()).toEqual([
      'Figure',
      'agent-1',
      'agent-2',
      'review-agent',
    ]);
    const graded = table.locator('td.good, td.fair, td.poor');
    expect(await graded.count()).toBeGreaterThan(0);
    for (const cell of await graded.all())
      expect(await cell.locator('small').textContent()).toBe(await cell.getAttribute('class'));
    await bed.picture('fleet-comparison', true);
    await page.reload();
    await table.waitFor();
    await button('Compare').click();
    await card('agent-1').waitFor();
  });

  test('figures that cannot be updated stay, and show their time', async () => {
    const known = await figure(summary(), 'Cost');
    await page.route('**/metrics?*', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'no', hint: 'Look.' } } }),
    );
    await button('Resume all').click(); // every action loads all data again
    await summary()
      .getByText(/^Not up to date: figures from \d\d:\d\d:\d\d/)
      .waitFor();
    expect(await figure(summary(), 'Cost')).toBe(known);
    await page.unroute('**/metrics?*');
    await button('Resume all').click();
    await summary()
      .getByText(/^Not up to date/)
      .waitFor({ state: 'detached' });
  });

  test('the emergency stop first names agents and tasks, then all stop', async () => {
    await bed.add('Carve the wheel');
    await bed.add('Grease the wheel');
    await page.getByText(/ · 2 active/).waitFor();
    // An earlier task may still be in review.
    await until((all) => all.filter(({ task }) => task !== null).length === 2);
    await button('Emergency stop').click();
    const dialog = page.getByRole('dialog', { name: 'Stop everything now?' });
    for (const { name, task } of await busy())
      await dialog
        .getByRole('listitem')
        .filter({ hasText: `${name} on #${task!.number} ${task!.title}` })
        .waitFor();
    expect(await dialog.getByRole('listitem').count()).toBe(2);
    await bed.picture('fleet-emergency');
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await busy()).toHaveLength(2);

    await button('Emergency stop').click();
    await dialog.getByLabel('Reason (for the log)').fill('smoke in the mill');
    await page.route('**/v1/emergency', (route) =>
      route.fulfill({ status: 500, json: { error: { code: 'internal', message: 'no', hint: 'Look.' } } }),
    );
    await dialog.getByRole('button', { name: /^Stop everything now$/ }).click();
    await dialog.getByRole('alert').filter({ hasText: 'tidemill stop --emergency' }).waitFor();
    await page.unroute('**/v1/emergency');
    await dialog.getByRole('button', { name: /^Stop everything now$/ }).click();
    await dialog.waitFor({ state: 'detached' });
    for (const name of ['agent-1', 'agent-2', 'review-agent'])
      await card(name).getByText('stopped', { exact: true }).waitFor();
    expect(await busy()).toEqual([]);
    const [audit] = await bed.api.recentEvents({ project: bed.project, types: ['emergency.executed'], limit: 1 });
    expect(audit?.body).toMatchObject({
      operation: 'emergency_stop',
      reason: 'smoke in the mill',
      by: { name: 'ada' },
    });
    bed.openDoor('wheel');
    await button('Resume all').click();
    await until((all) => all.every(({ desired }) => desired === 'running'));
    await bed.machine.idle(bed.repository.root);
    await card('agent-1').getByText('idle', { exact: true }).waitFor();
  });

  test('one more agent appears, up to the maximum', async () => {
    for (let count = 3; count <= MOST; count += 1) {
      await button('Add agent').click();
      await card(`agent-${count}`).waitFor();
    }
    await expect.poll(() => button('Add agent').isDisabled(), { timeout: PATIENCE_MS }).toBe(true);
    await card('agent-10').getByRole('button', { name: 'More for agent-10' }).click();
    await button('Remove agent-10').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await card('agent-10').waitFor({ state: 'detached' });
    await expect.poll(() => button('Add agent').isEnabled(), { timeout: PATIENCE_MS }).toBe(true);
  });

  test('a worker outside the daemon is marked as such, and fits 380 px in the dark theme', async () => {
    for (const { name, role } of await workers())
      if (role === 'builder')
        await bed.api.steerWorkers({ project: bed.project, worker: name, operation: 'pause', by: 'ada' });
    await card('agent-1').getByText('Paused by ada.').waitFor();
    await bed.add('Take the cart to the market');
    await bed.api.claimWork({ project: bed.project, worker: 'laptop' });
    await card('laptop').getByText('external').waitFor();
    await card('laptop').getByText('Take the cart to the market').waitFor();
    await page.setViewportSize({ width: 380, height: 900 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await bed.picture('fleet-dark-380', true);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(380);
    const own = bed.complaints.filter((text) => !text.includes('500'));
    expect(own).toEqual([]);
  });
});
