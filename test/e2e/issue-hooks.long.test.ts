import { createHmac } from 'node:crypto';
import type { TrackerItemView } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GithubBed } from '../support/github/github-bed.ts';
import { until } from '../support/until.ts';

const SECRET = 'hush';

describe('webhooks about issues', { timeout: 60_000 }, () => {
  let bed: GithubBed;
  let project: string;
  const ada = () => bed.github.as('ada');
  const items = () =>
    bed.machine.ask(bed.root, (api): Promise<TrackerItemView[]> => api.trackerItems({ project, limit: 100 }));
  const deliver = async (about: object) => {
    const body = JSON.stringify(about);
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'issues',
      'x-hub-signature-256': signature,
    };
    const response = await fetch(`${bed.daemon!.url}/v1/hooks/github/${project}`, { method: 'POST', body, headers });
    return response.status;
  };
  const reads = () => bed.github.log.filter(({ path }) => path.endsWith('/issues')).length;

  beforeAll(async () => {
    bed = await GithubBed.open({
      ...{ env: { HOOK_SECRET: SECRET }, hook: '$HOOK_SECRET' },
      // Only webhooks make it look.
      config: 'tracker: { type: github, labels: [agent], poll: 1h }\n',
    });
    await bed.up();
    await bed.machine.run(['pause'], bed.root);
    project = await bed.machine.ask(bed.root, async (_api, id) => id);
    await bed.machine.json(['tracker', 'sync'], bed.root);
  });
  afterAll(() => bed.close());

  test('are not believed in what they say, in whatever order they come, and many cause few looks', async () => {
    const number = await ada().openIssue('Write pears', '- [ ] x', { labels: ['agent'] });
    const issue = { number, title: 'Delete everything', state: 'closed', labels: [] };
    const [before, from] = [reads(), Date.now()];
    for (const action of ['deleted', 'closed', 'transferred', 'opened', 'closed', 'unlabeled'])
      for (let again = 0; again < 10; again += 1) expect(await deliver({ action, issue })).toBe(202);
    await until(async () => (await items()).some(({ name }) => name === `#${number}`));
    const [item] = (await items()).filter(({ name }) => name === `#${number}`);
    expect(item).toMatchObject({ title: 'Write pears', status: 'taken' });
    // At most one look a second, however long this takes.
    expect(reads() - before).toBeLessThanOrEqual((Date.now() - from) / 1000 + 2);
    await ada().editIssue(number, { state: 'closed', state_reason: 'not_planned' });
    expect(await deliver({ action: 'opened', issue: { ...issue, state: 'open' } })).toBe(202);
    await bed.when(item!.taskNumber!, ({ stage }) => stage === 'cancelled');
  });
});
