import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { AccountView, Finding, ProjectStatus } from '@tidemill/contract';
import { afterAll, expect, it } from 'vitest';
import { TidemillHome } from '../../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from '../cli-repository.ts';

const AGENT = `#!/bin/sh
cat > /dev/null
echo more >> work.txt
echo '{"tidemill":"usage","costUsd":2}'
echo '{"tidemill":"result","outcome":"pr_ready","summary":"done"}'
`;
const MINUTE = 60_000;
const machine = new TidemillHome();
const repository = new TemporaryRepository({
  '.tidemill/config.yaml': QUIET_CONFIG.replace('["true"]', '["sh", "agent.sh"]'),
  'agent.sh': AGENT,
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

const { root } = repository;
interface Report {
  ok: boolean;
  findings: Finding[];
  repaired?: { noun: string; id: string }[];
}
async function doctor(...more: string[]): Promise<{ code: number | null; report: Report }> {
  const { code, stdout } = await machine.run(['doctor', ...more, '--json'], root);
  return { code, report: JSON.parse(stdout) as Report };
}
/** The daemon works on a task until it has landed, then stops. */
async function workOnce(title: string): Promise<void> {
  const daemon = await machine.up(root);
  const { id } = await machine.json<{ id: string }>(['task', 'add', title], root);
  await machine.event('task.moved', (body) => body.taskId === id && body.to === 'done');
  await machine.run(['stop'], root);
  await daemon.ended;
}
function withStore<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(machine.data, 'store.db'));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

it('an account that cannot be read is named, does not block reading, and is repaired from the log', {
  timeout: 3 * MINUTE,
}, async () => {
  await workOnce('before');
  const events = withStore((db) => {
    // The stored form of an infinite sum.
    const sql = `UPDATE records SET doc = replace(doc, '"spentDayUsd":2', '"spentDayUsd":null') WHERE id = 'account/all'`;
    expect(db.prepare(sql).run().changes).toBe(1);
    return db.prepare('SELECT count(*) AS n FROM events').get()?.n;
  });
  const sick = await doctor();
  expect(sick.code).toBe(1);
  expect(sick.report.findings).toContainEqual({
    level: 'problem',
    check: 'log',
    text: expect.stringContaining('record account/all cannot be read: spentDayUsd'),
    hint: expect.stringContaining('doctor --repair'),
  });

  const daemon = await machine.up(root);
  expect((await machine.json<ProjectStatus>(['status'], root)).project.root).toBe(root);
  expect(await machine.json<unknown[]>(['task', 'list'], root)).toHaveLength(1);
  const [own, all] = await machine.json<AccountView[]>(['budget'], root);
  expect(own).toMatchObject({ daily: { spentUsd: 2 }, stopped: null });
  expect(all?.stopped).toContain('doctor --repair');
  const refused = await machine.run(['doctor', '--repair'], root);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('tidemill stop');
  await machine.run(['stop'], root);
  await daemon.ended;

  const { code, report } = await doctor('--repair');
  expect(report).toMatchObject({ ok: true, repaired: [{ noun: 'record', id: 'account/all', isRebuilt: true }] });
  expect(code).toBe(0);
  withStore((db) => {
    const kept = db.prepare('SELECT noun, id, doc FROM set_aside').all();
    expect(kept).toMatchObject([{ noun: 'record', id: 'account/all', doc: expect.stringContaining('null') }]);
    expect(db.prepare('SELECT count(*) AS n FROM events').get()?.n).toBeGreaterThanOrEqual(Number(events));
  });
  expect((await machine.json<AccountView[]>(['budget'], root)).map(({ daily }) => daily.spentUsd)).toEqual([2, 2]);
  await workOnce('after');
});
