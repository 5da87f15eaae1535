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
  const signatureOf = (body: string, secret = SECRET) =>
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const deliver = async (about: object, sign: (body: string) => string | null = signatureOf) => {
    const body = JSON.stringify(about);
    const signature = sign(body);
    const headers = {
      ...{ 'content-type': 'application/json', 'x-github-event': 'issues' },
      ...(signature === null ? {} : { 'x-hub-signature-256': signature }),
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

  test('a signed one makes it read at once; unsigned and forged ones are refused and read nothing', async () => {
    await ada().openIssue('Write apples', '- [ ] x', { labels: ['agent'] });
    const before = reads();
    expect(await deliver({ action: 'labeled' }, () => null)).toBe(401);
    expect(await deliver({ action: 'labeled' }, (body) => signatureOf(body, 'guess'))).toBe(401);
    expect(await deliver({ action: 'labeled' }, (body) => signatureOf(`${body} `))).toBe(401);
    expect(await deliver({ action: 'labeled' }, () => 'sha1=00')).toBe(401);
    expect([reads() - before, await items()]).toEqual([0, []]);
    expect(await deliver({ action: 'labeled' })).toBe(202);
    await until(async () => (await items()).length === 1);
  });

  test('what it says is not believed, in whatever order it comes, and many cause few looks', async () => {
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
