import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AUTONOMY_PRESETS, type JobMode } from '@tidemill/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { assetDir } from '../assets.ts';
import { createPrompts } from './prompts.ts';

const builtinDir = path.join(assetDir('prompts'), 'agents');
let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'tidemill-prompts-'));
  await mkdir(path.join(root, '.tidemill', 'agents'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

it('the prompt of every job but a trial says what the agent may decide, also with the project’s own template', async () => {
  const sections = new Proxy({}, { get: () => '', ownKeys: () => [] });
  const context = { hilConfig: AUTONOMY_PRESETS.confirm_all, files: [], answers: [], sections };
  const prompts = createPrompts({ root, builtinDir });
  const told = async (mode: JobMode) => (await prompts.renderJob({ mode, input: 'x' }, context)).prompt;
  for (const mode of ['ideate', 'specify', 'judge', 'analyse', 'propose', 'reflect', 'prevent'] as const)
    expect((await told(mode)).match(/## What you may decide/g)).toHaveLength(1);
  expect(await told('trial')).not.toContain('## What you may decide');
  await writeFile(path.join(root, '.tidemill', 'agents', 'ideate.md'), 'Talk about {input}.\n');
  expect(await told('ideate')).toMatch(/Talk about[\s\S]*## What you may decide[\s\S]*\*\*a person decides/);
});
