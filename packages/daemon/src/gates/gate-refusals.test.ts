import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { GateConfig, UseLimits } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChildHost } from '../process/child.ts';
import { clonePath } from '../process/clone-path.ts';
import { refusalHints } from '../process/refusal-hint.ts';
import { sandboxStatus } from '../process/sandbox.ts';
import { createGates } from './gates.ts';

const status = await sandboxStatus();
let base: string;
let host: ChildHost;
let worktree: string;
beforeAll(async () => {
  base = await mkdtemp('/var/tmp/tidemill-refusals-');
  const dataDir = path.join(base, 'data');
  worktree = path.join(dataDir, 'worktrees', '1');
  host = { root: path.join(base, 'mine'), dataDir, homeId: dataDir, sandbox: 'auto' };
  for (const folder of [worktree, host.root, path.join(base, 'shared')]) await mkdir(folder, { recursive: true });
  execFileSync('git', ['init', '-q'], { cwd: host.root });
  await writeFile(path.join(host.root, '.gitignore'), '.env*\n');
  await writeFile(path.join(base, 'shared', 'data.json'), 'PRIVATE');
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function gate(run: string, limits = {}) {
  const config = [GateConfig.parse({ name: 'check', run })];
  const logDir = path.join(base, 'data', 'logs');
  const gates = createGates({ config, host: { ...host, limits: UseLimits.parse(limits) }, logDir });
  const signal = new AbortController().signal;
  const [report] = await gates.run({ path: worktree, tree: 't', files: null, isLanded: true, signal });
  const log = await readFile(path.join(logDir, `${report?.receipt.logHash}.log`), 'utf8');
  return { status: report?.receipt.status, excerpt: report?.excerpt ?? '', log };
}

describe('a gate that the sandbox refuses something', () => {
  beforeEach(({ skip }) => skip(!status.available, status.why));

  it.each([
    ['a file elsewhere', () => `cat ${base}/shared/data.json`, () => `readable: [${base}/shared/data.json]`],
    ['a file that Node opens', () => `node -e "fs.readFileSync('${base}/shared/data.json')"`, () => 'readable: ['],
    ['a folder that cannot be written', () => `echo x > /usr/x`, () => 'keeps /usr/x read-only'],
    ['an ignored file', () => 'cat .env.test', () => 'include: [.env.test]'],
    ['a file of the checkout', () => `cat ${base}/mine/.env`, () => 'include: [.env]'],
    ['a variable', () => 'set -u; echo "$REGISTRY_TOKEN"', () => 'pass: [REGISTRY_TOKEN]'],
    ['the network', () => `node -e "require('dns').lookup('example.org', (e) => { throw e; })"`, () => 'network: true'],
  ])('is told which setting allows it: %s', async (_what, run, setting) => {
    const { status, excerpt, log } = await gate(run());
    expect(status).toBe('fail');
    expect(excerpt).toContain(setting());
    expect(log).toContain(setting());
    expect(excerpt + log).not.toContain('PRIVATE');
  });

  it('gets the same hint whether the path exists or not, and none about the data folder', async () => {
    const hint = async (file: string) => (await gate(`cat ${file}`)).excerpt.replaceAll(file, 'FILE');
    expect(await hint(`${base}/shared/data.json`)).toBe(await hint(`${base}/shared/none.json`));
    expect((await gate(`cat ${base}/data/store.db`)).excerpt).not.toContain('readable');
    expect((await gate('cat missing.txt')).excerpt).not.toContain('config.yaml');
  });
});

it('a proof that misses an ignored file in its clone is told about include', async ({ skip }) => {
  skip(!status.available, status.why);
  const proof = path.join(host.dataDir, 'proofs', 'proof-1');
  const text = `Error: ENOENT: no such file or directory, open '${await clonePath(host, proof)}/.env.test'`;
  const hints = await refusalHints(text, { host, worktree: proof, network: false });
  expect(hints).toEqual([expect.stringContaining('`include: [.env.test]`')]);
});

it('a variable is named only where the output names one', async ({ skip }) => {
  skip(!status.available, status.why);
  const hints = (text: string) => refusalHints(text, { host, worktree, network: false });
  expect(await hints('Missing environment variable: API_URL')).toEqual([expect.stringContaining('`pass: [API_URL]`')]);
  expect(await hints('✔ environment variable support')).toEqual([]);
});

it('hints are few, and made of plain paths only', async ({ skip }) => {
  skip(!status.available, status.why);
  const about = { host, worktree, network: false };
  const many = Array.from({ length: 50 }, (_, index) => `cat: /srv/a${index}: No such file or directory`);
  expect(await refusalHints(many.join('\n'), about)).toHaveLength(3);
  expect(await refusalHints('cat: /srv/`$(x)\u0007: No such file or directory', about)).toEqual([]);
  expect(await refusalHints(many.join('\n'), { ...about, host: { ...host, sandbox: 'off' } })).toEqual([]);
});

it('a gate that uses more than it may fails, and says which limit it was', async ({ skip }) => {
  skip(!status.available, status.why);
  const { status: verdict, excerpt } = await gate('for i in $(seq 60); do sleep 100 & done; wait', { processes: 20 });
  expect(verdict).toBe('fail');
  expect(excerpt).toContain('ran more than 20 processes at once; if it needs more, raise limits.processes');
});
