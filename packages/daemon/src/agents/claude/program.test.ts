import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findClaude, problemOfReply, problemOfVersion, usableClaude } from './program.ts';

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tidemill-claude-'));
  root = path.join(folder, 'repository');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(file: string, text = '#!/bin/sh\n'): Promise<string> {
  const whole = path.join(folder, file);
  await mkdir(path.dirname(whole), { recursive: true });
  await writeFile(whole, text, { mode: 0o755 });
  return whole;
}
const find = (wanted?: string) => findClaude(wanted, root, { PATH: path.join(folder, 'prefix', 'bin') });

describe('the program of Claude Code', () => {
  it('is the one on PATH, then the repository’s own, then one that came with the SDK', async () => {
    const platform = `${process.platform}-${process.arch}`;
    const packaged = `prefix/lib/node_modules/@anthropic-ai/claude-agent-sdk-${platform}/claude`;
    for (const file of [packaged, 'repository/node_modules/.bin/claude', 'prefix/bin/claude']) {
      const added = await program(file);
      expect(await find()).toEqual({ file: added });
    }
    const named = await program('repository/tools/claude');
    expect(await find('./tools/claude')).toEqual({ file: named });
  });

  it('that is missing is named with what to install', async () => {
    const install = /no program claude on PATH; install Claude Code with `npm install -g @anthropic-ai\/claude-code`/;
    expect(await find()).toEqual({ missing: expect.stringMatching(install) });
    expect(await find('./gone')).toEqual({ missing: expect.stringMatching(/gone does not exist; install/) });
  });

  it('that is too old is refused with the version that is needed, and taken after an update', async () => {
    const file = await program('elsewhere/claude', '#!/bin/sh\necho "2.1.99 (Claude Code)"\n');
    const missing = expect.stringMatching(/2\.1\.99 .*too old: Tidemill needs 2\.1\.248 or newer; .*`claude update`/);
    expect(await usableClaude(file, root)).toEqual({ missing });
    await program('elsewhere/claude', '#!/bin/sh\necho "2.1.1248 (Claude Code)"\n');
    expect(await usableClaude(file, root)).toEqual({ file });
  });

  it('of the repository does not run outside the sandbox, not even for its version', async () => {
    const file = await program('repository/claude', `#!/bin/sh\ntouch '${folder}/ran'\necho 1.0.0\n`);
    expect(await usableClaude('./claude', root)).toEqual({ file });
    await expect(rm(path.join(folder, 'ran'))).rejects.toThrow('ENOENT');
  });
});

it.each([
  ['2.1.248 (Claude Code)', true],
  ['2.1.325', true],
  ['2.10.0', true],
  ['3.0.0-beta', true],
  ['2.1.247', false],
  ['2.0.999', false],
  ['1.9.300 (Claude Code)', false],
  // Judged when it starts.
  ['something else', true],
  [null, true],
])('the version %s of Claude Code is new enough: %s', (version, isFine) => {
  expect(problemOfVersion(version) === null).toBe(isFine);
});

it.each([
  [{ hooks_applied: true, claude_code_version: '2.1.325' }, null],
  [{ hooks_applied: true }, null],
  [{ hooks_applied: true, claude_code_version: '2.1.3' }, /too old/],
  [
    { hooks_applied: false, claude_code_version: '2.1.325' },
    /does not confirm.*2\.1\.248 or newer, and it is 2\.1\.325/,
  ],
  [{}, /does not confirm/],
  [null, /did not answer in time/],
])('a program of Claude Code that answers %j is judged by its answer', (reply, problem) => {
  const said = problemOfReply(reply);
  if (problem === null) expect(said).toBeNull();
  else expect(said).toMatch(problem);
});
