import type { Finding, ProjectStatus, Verification } from '@tidemill/contract';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const url = inject('postgresUrl');

const AGENT = `
import { readFileSync, writeFileSync } from 'node:fs';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
writeFileSync(\`work-\${task.number}.txt\`, task.title);
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'wrote it' }));
`;
const CONFIG = `
workers: 2
pipeline: quick
agents: { default: { type: command, command: [node, agent.mjs] } }
gates: [{ name: test, run: "test -e agent.mjs" }]
`;

/** Two machines, each with its own data folder and repository, and one shared database. */
describe('daemons that share a Postgres', () => {
  const name = `e2e_${process.pid}`;
  const repositories: TemporaryRepository[] = [];
  const machines: TidemillHome[] = [];
  const onServer = async (sql: string) => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  };

  beforeEach(async ({ skip }) => {
    skip(url === '', 'no Postgres could be started');
    await onServer(`CREATE DATABASE ${name}`);
    for (let i = 0; i < 2; i += 1) {
      repositories.push(new TemporaryRepository({ 'agent.mjs': AGENT, '.tidemill/config.yaml': CONFIG }));
      machines.push(new TidemillHome({ DATABASE_URL: url.replace(/\/[^/]*$/, `/${name}`) }));
    }
  });
  afterEach(async () => {
    await Promise.all(machines.splice(0).map((machine) => machine.close()));
    for (const repository of repositories.splice(0)) repository.remove();
    if (url !== '') await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
  });

  test('each finishes its own tasks at the same time, and the evidence is valid', async () => {
    await Promise.all(
      machines.map(async (machine, i) => {
        const { root } = repositories[i]!;
        for (const title of ['ebb', 'flood', 'slack']) await machine.json(['task', 'add', title], root);
        const { code, stderr } = await machine.run(['up', '--until-idle'], root);
        expect(code, stderr).toBe(0);
      }),
    );
    for (const [i, machine] of machines.entries()) {
      const { root } = repositories[i]!;
      expect((await machine.json<ProjectStatus>(['status'], root)).tasks).toEqual({ done: 3 });
      expect((await machine.json<Verification>(['evidence', 'verify', 'HEAD'], root)).ok).toBe(true);
      const { findings } = await machine.json<{ findings: Finding[] }>(['doctor'], root);
      expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
    }
  }, 180_000);
});
