import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
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
    for (const part of ['docs', 'prompts']) await cp(join(checkout, part), join(copy, part), { recursive: true });
    await linkModules(copy);
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  it('needs lines in at most five existing files, none of them a switch, and its types are correct', async () => {
    const steps = await walk();
    const changed = new Set(steps.filter(({ kind }) => kind === 'in').map(({ path }) => path));
    expect(changed.size).toBeLessThanOrEqual(5);
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

  it('offers the new operation over HTTP, in the client, the command line, MCP and the documents by its row alone', async () => {
    const { stdout } = await run(process.execPath, [join(copy, 'memo.ts')], { cwd: copy });
    expect(JSON.parse(stdout)).toEqual({
      http: 'POST /v1/projects/{project}/memos',
      client: 'function',
      help: 'write a memo about this project',
      tool: 'write_memo',
      stored: ['Buy flour'],
    });
    await run(process.execPath, [join(copy, 'scripts/operation-docs.ts'), '--write'], { cwd: copy });
    expect(await readFile(join(copy, 'docs/commands.md'), 'utf8')).toContain('| `tidemill memo TEXT` | Write a memo');
    expect(await readFile(join(copy, 'docs/api.md'), 'utf8')).toContain(
      '| memos | `POST /v1/projects/:project/memos` |',
    );
  }, 60_000);
});

/** Everything of the checkout, but the copy's own packages. */
async function linkModules(copy: string): Promise<void> {
  const shared = join(checkout, 'node_modules');
  await mkdir(join(copy, 'node_modules', '@tidemill'), { recursive: true });
  for (const name of await readdir(shared))
    if (name !== '@tidemill') await symlink(join(shared, name), join(copy, 'node_modules', name));
  for (const name of ['contract', 'core'])
    await symlink(join(copy, 'packages', name), join(copy, 'node_modules', '@tidemill', name));
  await writeFile(join(copy, 'memo.ts'), MEMO);
}

/** Uses the operation in every way in which its row offers it. */
const MEMO = `
import { routes } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { createIds, systemClock } from './packages/daemon/src/clock.ts';
import { createProgram } from './packages/daemon/src/cli/program.ts';
import { executeRoute } from './packages/daemon/src/handlers/execute.ts';
import { openApiDocument } from './packages/daemon/src/http/openapi.ts';
import { toolsFor } from './packages/daemon/src/mcp/tools/index.ts';
import { openStore } from './packages/daemon/src/store/open.ts';

const { paths } = openApiDocument('http://localhost', 1, '1');
const [http] = Object.entries(paths).filter(([, { post }]) => post?.operationId === 'writeMemo');
const program = await createProgram({ env: {}, cwd: '/', terminal: {}, setExitCode() {} }, '1.0.0', 'memo');
const tool = toolsFor('operator').find(({ name }) => name === routes.writeMemo.mcp.tool);
const store = await openStore({ url: 'memory:', clock: systemClock, ids: createIds(systemClock) });
const projectId = 'project_1';
await store.execute({ type: 'project.register', projectId, name: 'demo', root: '/demo', rules: {} });
const by = { kind: 'person', id: 'ada', name: 'ada' };
await executeRoute({ store }, 'memo.write', { project: projectId, text: 'Buy flour', by });
const stored = (await store.records({ noun: 'memo', projectId })).map(({ text }) => text);
console.log(JSON.stringify({
  http: 'POST ' + http[0],
  client: typeof createClient({ url: 'http://localhost' }).writeMemo,
  help: program.commands[0].description(),
  tool: tool.name,
  stored,
}));
process.exit(0);
`;

const pathsFor = (root: string, paths: Record<string, string[]>) => ({
  ...Object.fromEntries(Object.entries(paths).map(([name, [path]]) => [name, [join(root, 'packages', path!)]])),
  '@tidemill/contract/client': [join(root, 'packages/contract/src/api/client.ts')],
  '@tidemill/contract/modes': [join(root, 'packages/contract/src/run/modes.ts')],
  '@tidemill/contract/stream': [join(root, 'packages/contract/src/stream/client.ts')],
  '@tidemill/core': [join(root, 'packages/core/src/index.ts')],
});
