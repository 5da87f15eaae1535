import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const checkout = resolve(import.meta.dirname, '../..');
const BLOCK = /<!-- (new|in): ([^,\n]+?)(?:, (after|replace): (.+?))? -->\n```tsx?\n([\s\S]*?)```/g;

/** The files that the page creates, and its changes in others, in the order of the page. */
async function walk() {
  const page = await readFile(join(checkout, 'docs/adding-a-noun.md'), 'utf8');
  return [...page.matchAll(BLOCK)].map(([, kind, path, how, at, text]) => ({
    kind,
    path: path!,
    how,
    at,
    text: text!,
  }));
}

describe('adding a noun as its page describes', () => {
  let copy: string;
  beforeAll(async () => {
    copy = await mkdtemp(join(tmpdir(), 'tidemill-noun-'));
    const isOwn = (path: string) => !/(^|\/)(node_modules|dist|results)($|\/)/.test(path.slice(checkout.length));
    for (const part of ['packages', 'test', 'scripts', 'bench', 'tsconfig.json', 'package.json', 'vitest.config.ts'])
      await cp(join(checkout, part), join(copy, part), { recursive: true, filter: isOwn });
    await symlink(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  it('needs lines in at most six existing files, none of them a switch, and its types are correct', async () => {
    const steps = await walk();
    const changed = new Set(steps.filter(({ kind }) => kind === 'in').map(({ path }) => path));
    expect(changed.size).toBeLessThanOrEqual(6);
    expect(steps.filter(({ kind }) => kind === 'new').length).toBeGreaterThan(6);
    for (const { kind, path, how, at, text } of steps) {
      const file = join(copy, path);
      await mkdir(dirname(file), { recursive: true });
      if (kind === 'new') {
        await writeFile(file, text);
        continue;
      }
      const before = await readFile(file, 'utf8');
      expect(before, `${path} has the line: ${at}`).toContain(at!);
      expect(before).not.toContain('switch (');
      const added = how === 'replace' ? text.trimEnd() : `${at}\n${text.trimEnd()}`;
      await writeFile(
        file,
        before.replace(at!, () => added),
      );
    }
    // The copy's own packages, not those that the shared node_modules link to.
    const paths = { '@tidemill/contract': ['contract/src/index.ts'], '@tidemill/contract/*': ['contract/src/*'] };
    const tsc = join(checkout, 'node_modules/typescript/bin/tsc');
    // All in one program, so that shared files are read once.
    const lib = ['es2025', 'esnext.disposable', 'dom', 'dom.iterable'];
    const types = ['node', 'vite/client'];
    const options = { noEmit: true, jsx: 'react-jsx', lib, types, paths: pathsFor(copy, paths) };
    const include = ['packages/core/src', 'packages/daemon/src', 'packages/web/src', 'test/support'];
    const config = join(copy, 'tsconfig.walk.json');
    await writeFile(
      config,
      JSON.stringify({ extends: './tsconfig.json', compilerOptions: options, include, exclude: [] }),
    );
    const { stdout } = await run(process.execPath, [tsc, '-p', config]).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  }, 300_000);
});

const pathsFor = (root: string, paths: Record<string, string[]>) => ({
  ...Object.fromEntries(Object.entries(paths).map(([name, [path]]) => [name, [join(root, 'packages', path!)]])),
  '@tidemill/contract/client': [join(root, 'packages/contract/src/api/client.ts')],
  '@tidemill/contract/modes': [join(root, 'packages/contract/src/run/modes.ts')],
  '@tidemill/contract/stream': [join(root, 'packages/contract/src/stream/client.ts')],
  '@tidemill/core': [join(root, 'packages/core/src/index.ts')],
});
