import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Evidence, Finding, LoggedEvent, TaskSummary, Verification } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

const AGENT = `#!/bin/sh
cat > /dev/null
echo "done by an agent" > result.txt
echo "working on it"
echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote the file"}'
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

beforeAll(async () => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    'agent.sh': AGENT,
    '.tidemill/config.yaml': QUIET_CONFIG.replace('["true"]', '[sh, agent.sh]').replace(
      '"true"',
      '"echo looking; test -f agent.sh"',
    ),
  });
  root = repository.root;
  await machine.run(['task', 'add', 'Write a file', '--accept', 'There is a file'], root);
  const up = await machine.run(['up', '--until-idle'], root);
  expect(up.code, up.stderr).toBe(0);
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

/** Changes the store directly, and undoes the change afterwards. */
async function tampered(sql: string, undo: string, look: () => Promise<void>): Promise<void> {
  const change = (statement: string) => {
    const db = new DatabaseSync(join(machine.data, 'store.db'));
    try {
      expect(db.prepare(statement).run().changes).toBeGreaterThan(0);
    } finally {
      db.close();
    }
  };
  change(sql);
  try {
    await look();
  } finally {
    change(undo);
  }
}

async function doctor(): Promise<{ code: number | null; problems: Finding[] }> {
  const { code, stdout } = await machine.run(['doctor', '--json'], root);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, problems: findings.filter(({ level }) => level === 'problem') };
}

describe('a landed task', () => {
  test('is done, its commit verifies, and doctor finds nothing', async () => {
    const [task] = await machine.json<TaskSummary[]>(['task', 'list'], root);
    expect(task).toMatchObject({ stage: 'done', landedCommit: repository.git('rev-parse', 'main') });
    const verified = await machine.json<Verification>(['evidence', 'verify'], root);
    expect(verified).toMatchObject({ ok: true, task: 1 });
    expect(verified.checks.map(({ name }) => name)).toEqual([
      ...['trailers', 'evidence', 'tree', 'gates', 'output', 'chain'],
    ]);
    expect(await doctor()).toEqual({ code: 0, problems: [] });
  });

  test('has its output, its receipts and its history', async () => {
    expect((await machine.run(['logs', '1'], root)).stdout).toContain('working on it');
    expect((await machine.run(['logs', '1', '--gate', 'test'], root)).stdout).toBe('looking\n');
    const unknown = await machine.run(['logs', '1', '--gate', 'lint'], root);
    expect(unknown.stderr).toContain('the gate "lint" has not run for #1');
    expect(unknown.stderr).toContain('integrity, test');
    const links = await machine.json<Evidence[]>(['evidence', 'list', '1'], root);
    expect(new Set(links.map(({ gate }) => gate))).toEqual(new Set(['integrity', 'test', 'secrets']));
    const events = await machine.jsonLines<LoggedEvent>(['events', '--task', '1', '--type', 'merge.landed'], root);
    expect(events).toHaveLength(1);
  });

  test('a commit with another tree is rejected, regardless of its trailers', async () => {
    const landed = repository.git('rev-parse', 'HEAD');
    try {
      repository.write({ 'smuggled.txt': 'never checked' });
      repository.git('add', 'smuggled.txt');
      repository.git('commit', '-q', '--amend', '--no-edit');
      const { code, stdout } = await machine.run(['evidence', 'verify', 'HEAD', '--json'], root);
      expect(code).toBe(1);
      const failed = (JSON.parse(stdout) as Verification).checks.filter(({ ok }) => !ok).map(({ name }) => name);
      expect(failed).toEqual(['tree', 'gates']);
    } finally {
      repository.git('reset', '-q', '--hard', landed);
    }
  });

  const set = (table: string, path: string, value: string) =>
    `UPDATE ${table} SET doc = json_set(doc, '${path}', '${value}')`;

  test('doctor finds a task that was moved without an event', async () => {
    await tampered(set('tasks', '$.stage', 'open'), set('tasks', '$.stage', 'done'), async () => {
      const { code, problems } = await doctor();
      expect(code).toBe(1);
      expect(problems.map(({ check }) => check)).toEqual(['log']);
    });
    expect(await doctor()).toEqual({ code: 0, problems: [] });
  });

  test('a changed receipt breaks the chain, for doctor and for verify', async () => {
    const link = ' WHERE position = 1';
    await tampered(set('evidence', '$.command', 'forged') + link, set('evidence', '$.command', '') + link, async () => {
      const { code, problems } = await doctor();
      expect(code).toBe(1);
      expect(problems.map(({ check }) => check)).toContain('evidence');
      const verified = await machine.run(['evidence', 'verify'], root);
      expect(verified.code).toBe(1);
      expect(verified.stdout).toContain('was changed after it was recorded');
    });
    expect((await machine.run(['evidence', 'verify'], root)).code).toBe(0);
  });
});
