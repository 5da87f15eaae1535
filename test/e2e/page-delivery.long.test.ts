import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PATIENCE_MS } from '../support/browser.ts';
import { usePages } from '../support/page-bed.ts';
import { showPages } from '../support/pages.ts';

const SCENARIO = `default:
  implement:
    - write: { path: "work-{taskNumber}.txt", content: "done\\n" }
    - result: { summary: done }
`;
/** Production is never healthy with the third task's file, and its rollback cannot work from then on. */
const CONFIG = `pipeline: quick
gates:
  - { name: test, run: "true" }
delivery:
  environments:
    - { name: staging, run: ["ls"], when: task, health: { run: "test -e work-1.txt", tries: 1 } }
    - name: production
      run: ["echo delivering $TIDEMILL_COMMIT", "test ! -e work-3.txt"]
      rollback: ["test ! -e work-2.txt"]
      after: staging
      when: task
      approve: requires_approval
`;

let page: Page;
const bed = usePages({ config: CONFIG, scenario: SCENARIO }, () => {
  page = bed.page;
});

const card = (name: string) => page.getByRole('list', { name: 'Environments' }).getByRole('listitem', { name });
const past = () => page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
const ended = (environment: string, status: string, after = 0) =>
  bed.machine.event('delivery.ended', (body) => body.environment === environment && body.status === status, after);

describe('the page Delivery', { timeout: 4 * PATIENCE_MS }, () => {
  test('a key opens it; it names the environments before anything was delivered', async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('v');
    await card('staging').getByText('nothing delivered yet').waitFor();
    await card('production').getByText('after staging, after each landing, you approve').waitFor();
    await page.getByText('Nothing was delivered yet.').waitFor();
  });

  test('a landed commit is live in the first environment, and the second waits for one button', async () => {
    await bed.add('Write the first', { accept: ['a file exists'] });
    await ended('staging', 'healthy');
    await card('staging').getByText('healthy', { exact: true }).waitFor();
    await card('production').getByText('waits for approval').waitFor();
    await card('production').getByText('1 task', { exact: true }).click();
    await card('production').getByText('Write the first').waitFor();
    await card('production')
      .getByRole('button', { name: /^Approve/ })
      .click();
    await card('production').getByText('healthy', { exact: true }).waitFor();
    await past().filter({ hasText: 'D2 production' }).getByRole('link').click();
    await page.getByRole('heading', { name: 'D2 to production' }).waitFor();
    await page
      .getByText(/^page, /)
      .first()
      .waitFor();
    await page.getByText('Output', { exact: true }).click();
    await page.locator('pre', { hasText: 'delivering' }).waitFor();
    await bed.visit('/tasks/1');
    await page.getByText('Landed on main').waitFor();
    await page.getByRole('list', { name: 'Deliveries' }).getByRole('link', { name: 'production D2' }).waitFor();
  });

  test('the overview shows what each environment has', async () => {
    await bed.show('Overview');
    const outlets = page.getByRole('list', { name: 'Environments' });
    await outlets.getByText('staging').waitFor();
    expect(await outlets.textContent()).toMatch(/staging\s*healthy\s*production\s*healthy/);
    await outlets.getByRole('link', { name: 'production' }).click();
    await card('production').waitFor();
  });

  test('the inbox asks too, and a rollback names what it takes away', async () => {
    await bed.add('Write the second', { accept: ['a file exists'] });
    await ended('staging', 'healthy', (await ended('production', 'healthy')).seq);
    await bed.show('Inbox');
    await page.getByRole('heading', { name: /ready to be deployed to production \(D4\)/ }).waitFor();
    await page.getByRole('button', { name: /Approve$/ }).click();
    await bed.show('Delivery');
    await past().filter({ hasText: 'D4 production' }).getByText('healthy').waitFor();
    await card('production').getByRole('button', { name: 'Roll back' }).click();
    await page
      .getByRole('dialog')
      .getByText(/takes [0-9a-f]{10} \(D4\) away from production/)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await past().filter({ hasText: 'D5 production' }).getByText('healthy').waitFor();
  });

  test('a rollback that fails too asks with the exact commands, and the answer ends it', async () => {
    await bed.add('Write the third', { accept: ['a file exists'] });
    await page.getByRole('button', { name: /^Approve/ }).click();
    // It went back to the commit of the first task before: so does this rollback, and it works.
    await past().filter({ hasText: 'D7 production' }).getByText('rolled back', { exact: true }).waitFor();
    const { api, project } = bed;
    await api.deliver({
      project,
      environment: 'production',
      commit: await landed(2),
      approve: true,
      override: 'a trial',
      by: 'ada',
    });
    await past().filter({ hasText: 'D8 production' }).getByText('healthy').waitFor();
    await api.deliver({ project, environment: 'production', approve: true, by: 'ada' });
    const question = card('production').getByRole('region', { name: /^Question/ });
    await question.getByText('test ! -e work-2.txt').waitFor();
    await card('production').getByText('state unknown').waitFor();
  });

  test('a number that does not exist says so', async () => {
    await bed.visit('/delivery/99');
    await page.getByText(/^Delivery D99 does not exist/).waitFor();
    expect(bed.complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });

  test('in both themes and widths nothing is too wide, and axe finds nothing', async () => {
    const pages = [
      {
        name: 'delivery',
        path: '/delivery',
        isThere: (shown: Page) => shown.getByRole('region', { name: /^Question/ }).waitFor(),
      },
      {
        name: 'overview-delivered',
        path: '/',
        isThere: (shown: Page) => shown.getByRole('list', { name: 'Environments' }).getByText('staging').waitFor(),
      },
      {
        name: 'delivery-detail',
        path: '/delivery/7',
        isThere: (shown: Page) => shown.getByRole('heading', { name: 'D7 to production' }).waitFor(),
      },
    ];
    expect(await showPages(bed, pages)).toEqual([]);
    await bed.visit('/delivery');
    await card('production').getByRole('button', { name: 'Leave it' }).click();
    await card('production')
      .getByRole('region', { name: /^Question/ })
      .waitFor({ state: 'detached' });
    await past().filter({ hasText: 'D9 production' }).getByText('rollback failed', { exact: true }).waitFor();
  });
});

async function landed(task: number): Promise<string> {
  const detail = await bed.api.task({ project: bed.project, task });
  return detail.task.landedCommit!;
}
