import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { discoverAgents } from './discover.ts';

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tidemill-agents-'));
  root = path.join(folder, 'repository');
  vi.stubEnv('PATH', path.join(folder, 'bin'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

async function program(file: string, prints: string): Promise<string> {
  const whole = path.join(folder, file);
  await mkdir(path.dirname(whole), { recursive: true });
  await writeFile(whole, `#!/bin/sh\necho ran > '${folder}/ran'\necho '${prints}'\n`, { mode: 0o755 });
  return whole;
}
const claude = async () => (await discoverAgents(root)).find(({ name }) => name === 'claude');

it('the search for agents lists Claude Code when only its program is on PATH', async () => {
  expect(await claude()).toMatchObject({
    installed: false,
    version: null,
    where: expect.stringMatching(/^npm install/),
  });
  const where = await program('bin/claude', '2.1.325 (Claude Code)');
  expect(await claude()).toMatchObject({ installed: true, version: '2.1.325 (Claude Code)', answers: true, where });
});

it('the search for agents does not count a version that is too old, and tells the command that updates it', async () => {
  await program('bin/claude', '2.1.247 (Claude Code)');
  expect(await claude()).toMatchObject({ installed: false, version: '2.1.247 (Claude Code)', where: 'claude update' });
});

it('the search for agents runs no program of the repository outside the sandbox', async () => {
  const where = await program('repository/node_modules/.bin/claude', '2.1.325');
  await program('repository/node_modules/.bin/codex', '1.0.0');
  expect(await claude()).toMatchObject({ installed: true, version: null, where });
  expect(existsSync(path.join(folder, 'ran'))).toBe(false);
});
