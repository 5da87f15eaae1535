import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** A vendor's program from npm, installed once per machine outside the repository; or why it is not available. */
export async function installVendor(
  name: string,
  version: string,
  program: string,
): Promise<{ program: string; bin: string } | { missing: string }> {
  const folder = path.join(tmpdir(), 'tidemill-vendors', `${path.basename(name)}@${version}`);
  const bin = path.join(folder, 'node_modules', '.bin');
  const found = { program: path.join(bin, program), bin };
  const isThere = async () => (await stat(found.program).catch(() => null)) !== null;
  if (await isThere()) return found;
  // Installed in another folder and moved: two test runs may install it at once, and one may be killed.
  await mkdir(path.dirname(folder), { recursive: true });
  const aside = await mkdtemp(`${folder}-`);
  try {
    const args = ['install', '--prefix', aside, '--no-audit', '--no-fund', '--no-save', `${name}@${version}`];
    await promisify(execFile)('npm', args, { timeout: 180_000 });
    await rename(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!(await isThere())) return { missing: `${name}@${version} cannot be installed: ${(error as Error).message}` };
  }
  return (await isThere()) ? found : { missing: `${name}@${version} came without ${program} for this machine` };
}

/** Claude Code, as most people have it: a program. */
export const CLAUDE_CODE = ['@anthropic-ai/claude-code', '2.1.325', 'claude'] as const;
