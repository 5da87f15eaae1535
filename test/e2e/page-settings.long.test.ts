import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@tidemill/contract/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { Inflow, LoopbackServer, sendJson } from '../support/channels/loopback.ts';
import { usePages } from '../support/page-bed.ts';

/** A custom pipeline, with a stage that returns to itself. */
const AUDITED = `name: audited
description: Drafted until a person is content.
start: draft
stages:
  draft: { actor: agent, mode: implement, on: { pr_ready: prove, failed: draft, no_changes: blocked } }
  prove: { actor: system, does: verify, on: { approved: decide, failed: draft } }
  decide: { actor: human, on: { approved: land, changes_requested: draft } }
  land: { actor: system, does: merge, on: { approved: done, failed: draft, conflicts_detected: draft } }
`;
const SCENARIO = `runs:
  - when: { task: grain, attempt: 1 }
    do: [ { ask: { questions: [ { text: "Rye or wheat?", type: preference, options: [rye, wheat] } ] } } ]
default:
  implement:
    - write: { path: "task-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
`;
// Any variable of the daemon can hold a channel's secret; this one always exists.
const configWith = (url: string) => `workers: 1
pipeline: quick
gates:
  - { name: test, run: "true" }
channels:
  desk: { type: webhook, url: "${url}/desk", secretEnv: USER }
  attic: { type: webhook, url: "${url}/attic", secretEnv: USER }
`;

const received = new Inflow<string>();
const hook = new LoopbackServer((request, _body, response) => {
  received.put(request.url ?? '');
  sendJson(response, {}, request.url === '/attic' ? 403 : 200);
});
let page: Page;
beforeAll(() => hook.listen());
const bed = usePages({ config: () => configWith(hook.url), scenario: SCENARIO }, () => {
  page = bed.page;
});
afterAll(() => hook.close());

const part = (id: string, of = page) => of.locator(`#${id}`);
const editor = () => page.getByRole('textbox', { name: 'Config file' });
const save = () => part('config').getByRole('button', { name: 'Save', exact: true });
const file = () => join(bed.repository.root, '.tidemill', 'config.yaml');
const onDisk = () => readFileSync(file(), 'utf8');
const isConfig = (url: URL) => url.pathname.endsWith('/config');
const changedElsewhere = () => page.getByRole('alert').filter({ hasText: 'The file was changed elsewhere' });

async function workersAre(...names: string[]): Promise<void> {
  const builders = async () =>
    (await bed.api.status({ project: bed.project })).workers
      .filter(({ role }) => role === 'builder')
      .map(({ name }) => name);
  await expect.poll(builders, { timeout: PATIENCE_MS }).toEqual(names);
}

describe('the page Settings', { timeout: 4 * PATIENCE_MS }, () => {
  test('an invalid config shows its line and cannot be saved; a valid one is saved and applied', async () => {
    await bed.show('Settings');
    const text = onDisk();
    await expect.poll(() => editor().inputValue(), { timeout: PATIENCE_MS }).toBe(text);
    await part('config').getByText('No changes.').waitFor();
    await editor().fill(text.replace('workers: 1', 'wokrers: 2').replace('quick', 'quik'));
    await part('config').getByText('2 problems. Fix before saving:').waitFor();
    await part('config').getByText('did you mean "workers"?').waitFor();
    expect(await save().isDisabled()).toBe(true);
    const line = text.split('\n').indexOf('pipeline: quick') + 1;
    await part('config')
      .getByRole('button', { name: `line ${line}` })
      .click();
    expect(
      await page.evaluate(
        'document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)',
      ),
    ).toBe('pipeline: quik');
    expect(onDisk()).toBe(text);
    await bed.picture('page-settings-wrong');

    await editor().fill(text.replace('workers: 1', 'workers: 2'));
    await part('config').getByText('config.yaml is valid.').waitFor();
    await save().click();
    await page.getByText('Saved and committed to main. It applies within a second.').waitFor();
    expect(onDisk()).toBe(text.replace('workers: 1', 'workers: 2'));
    await workersAre('agent-1', 'agent-2');
    expect(bed.repository.git('status', '--porcelain', '-uno')).toBe('');
  });

  test('typed text survives a change of page and of the file', async () => {
    const text = onDisk();
    const mine = `# mine\n${text}`;
    await editor().fill(mine);
    await bed.show('Board');
    await page.goBack();
    await expect.poll(() => editor().inputValue(), { timeout: PATIENCE_MS }).toBe(mine);

    // The page updates automatically.
    writeFileSync(file(), text.replace('workers: 2', 'workers: 3'));
    await workersAre('agent-1', 'agent-2', 'agent-3');
    await changedElsewhere().waitFor();
    expect(await editor().inputValue()).toBe(mine);
    expect(await save().isDisabled()).toBe(true);
    await part('config').getByText('Choose which text to keep first.').waitFor();
    await changedElsewhere().getByRole('button', { name: 'Keep my text' }).click();
    await save().click();
    await workersAre('agent-1', 'agent-2');
    expect(onDisk()).toBe(mine);
  });

  test('a file that changed in the meantime is not overwritten: the save is refused, with a next step', async () => {
    const theirs = `${onDisk()}# theirs\n`;
    const refused = Promise.withResolvers<void>();
    // The page does not see the new file before an event.
    await page.route(isConfig, async (route) => {
      if (route.request().method() === 'GET') await refused.promise;
      await route.continue();
    });
    await editor().fill(`${onDisk()}# mine\n`);
    await part('config').getByText('config.yaml is valid.').waitFor();
    writeFileSync(file(), theirs);
    await save().click();
    await page
      .locator('.toast.wrong')
      .getByText(/changed/)
      .waitFor();
    refused.resolve();
    await changedElsewhere().waitFor();
    expect(onDisk()).toBe(theirs);
    await page.unroute(isConfig);
    await changedElsewhere().getByText('The file on disk; lines that differ').click();
    await changedElsewhere().getByText('# theirs').waitFor();
    await changedElsewhere().getByRole('button', { name: 'Use the file on disk' }).click();
    await expect.poll(() => editor().inputValue(), { timeout: PATIENCE_MS }).toBe(theirs);
    bed.repository.git('commit', '-q', '-a', '-m', 'The settings as they are');
  });

  test('a button tests a channel and shows the result', async () => {
    const channel = (name: string) =>
      part('channels')
        .getByRole('listitem')
        .filter({ hasText: `${name} webhook` });
    await page.getByRole('button', { name: 'Send test to desk' }).click();
    await channel('desk')
      .getByText(/^Test sent at \d\d:\d\d:\d\d$/)
      .waitFor();
    await received.first((path) => path === '/desk');
    await page.getByRole('button', { name: 'Send test to attic' }).click();
    await channel('attic')
      .getByText(/^Test failed: .*403/)
      .waitFor();
  });

  test('shows agents, learned answers and pipelines, including a custom one with a loop', async () => {
    const agents = await bed.api.agents({ project: bed.project });
    for (const { name } of agents) await part('agents').getByText(name, { exact: true }).first().waitFor();
    bed.repository.write({ '.tidemill/pipelines/audited.yaml': AUDITED });
    bed.repository.git('add', '-A');
    bed.repository.git('commit', '-q', '-m', 'A pipeline of our own');
    for (const name of ['feature', 'bug', 'quick', 'audited'])
      await page
        .getByRole('region', { name: `Pipeline ${name}` })
        .locator('svg')
        .waitFor();
    const own = page.getByRole('figure').filter({ has: page.getByRole('region', { name: 'Pipeline audited' }) });
    expect(await own.getByRole('listitem').allTextContents()).toContain('draft leads to draft on failed');

    await part('learned').getByText('No learned answers yet.').waitFor();
    await bed.add('Choose the grain');
    const asked = async () =>
      (await bed.api.questions({ project: bed.project })).filter(({ text }) => /Rye/.test(text));
    await expect.poll(async () => (await asked()).length, { timeout: PATIENCE_MS }).toBe(1);
    await bed.api.answerQuestion({ project: bed.project, question: (await asked())[0]!.ref, text: 'rye' });
    await part('learned').getByText('Rye or wheat?').waitFor();
    await page.getByRole('button', { name: /^Revoke the answer to: Rye/ }).click();
    await part('learned').getByText('No learned answers yet.').waitFor();
  });

  test('a token is created, shown once, allows only reading, and is revoked', async () => {
    const name = page.getByRole('textbox', { name: 'Name of the new token' });
    await name.fill('9 <b>');
    await part('access')
      .getByText(/^a token name is a letter/)
      .waitFor();
    expect(await page.getByRole('button', { name: 'Create token' }).isDisabled()).toBe(true);
    await name.fill('bob');
    await page.getByRole('button', { name: 'Create token' }).click();
    const shown = part('access').locator('.made');
    await shown.locator('code').nth(1).waitFor();
    const [token, link] = await shown.locator('code').allTextContents();
    await page.reload();
    await part('access').getByText('bob viewer').waitFor();
    expect(await page.content()).not.toContain(token!);

    const viewer = await bed.newContext();
    const theirs = await viewer.newPage();
    await theirs.goto(link!);
    await theirs.getByText('live', { exact: true }).waitFor();
    await bed.visit('/settings', theirs);
    await theirs.getByText(/^You can view this page. Changing a setting needs the role admin/).waitFor();
    await part('config', theirs).getByText('Saving needs the role admin.').waitFor();
    expect(await theirs.getByRole('textbox', { name: 'Config file' }).getAttribute('readonly')).not.toBeNull();
    await part('access', theirs).getByText('Only an admin can see and create tokens.').waitFor();
    await part('channels', theirs).getByRole('button', { name: 'Send test to desk' }).waitFor();
    const enabled = await theirs.locator('main button:enabled').allTextContents();
    expect(enabled.filter((text) => text !== 'Copy')).toEqual([]);
    await bed.visit('/costs', theirs);
    await theirs.getByText(/Changing a limit needs the role admin/).waitFor();
    expect(await theirs.getByRole('button', { name: 'Edit limits' }).isDisabled()).toBe(true);
    // A direct call to the API is refused with a message.
    const api = createClient({ url: bed.daemon.url, token: token! });
    const { text, hash } = await api.config({ project: bed.project });
    await expect(api.saveConfig({ project: bed.project, text, hash })).rejects.toMatchObject({ code: 'forbidden' });
    await viewer.close();

    await page.getByRole('button', { name: 'Revoke bob' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke bob?' });
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await part('access')
      .getByText(/^No tokens yet/)
      .waitFor();
    await expect(api.whoami({})).rejects.toMatchObject({ code: 'unauthorized' });
    await bed.picture('page-settings', true);
    // The refusals that this test caused.
    expect(bed.complaints.filter((text) => !/status of (409|502|500|400|403)/.test(text))).toEqual([]);
  });
});
