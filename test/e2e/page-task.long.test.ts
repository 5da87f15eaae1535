import { expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';

const CONFIG = 'gates: [{ name: test, run: "true" }]\n';
const LOUD = ["head -c 6000000 /dev/zero | tr '\\000' '\\033'; echo", 'seq 1 1700000 > big.txt'];
const SCENARIO = JSON.stringify({
  runs: [{ when: { mode: 'implement' }, do: [...LOUD.map((run) => ({ run })), { result: {} }] }],
});
const bed = usePages({ config: CONFIG, scenario: SCENARIO });

test("a task's page stays usable with 5 MB of control characters and a change of more than 10 MB", {
  timeout: 3 * PATIENCE_MS,
}, async () => {
  const { api, page, project } = bed;
  const task = await bed.add('A loud one', { accept: ['it is done'] });
  await bed.visit(`/tasks/${task}?tab=output`);
  await page.getByLabel('Landed', { exact: true }).waitFor();
  const run = (await api.task({ project, task })).runs.find(({ mode }) => mode === 'implement')!;
  await page.getByRole('combobox', { name: 'Run' }).selectOption(run.id);
  await page.getByText('The output was cut at 5 MB').waitFor();
  await page
    .getByText(/^\[[\d,]+ control characters\]$/)
    .first()
    .waitFor();
  const elements = () => page.evaluate('document.querySelectorAll("main *").length') as Promise<number>;
  expect(await elements()).toBeLessThan(1000);
  await page.getByRole('tab', { name: 'Change' }).click();
  await page.getByText('Cut at 1 MB.').waitFor();
  await page.getByRole('button', { name: 'Load more', exact: true }).click();
  await page.getByText('Cut at 10 MB.').waitFor();
  const change = page.getByRole('region', { name: 'The change, line by line' });
  await change.getByRole('button', { name: 'big.txt' }).click();
  await change.getByText('1', { exact: true }).first().waitFor();
  expect(await elements()).toBeLessThan(2000);
});
