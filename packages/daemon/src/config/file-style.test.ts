import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { check, resolveConfig } from 'prettier';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { initProject } from './init.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tm-style-'));
});
afterEach(() => rm(root, { recursive: true }));

const LONG = `node --test ${'a-long-name.test.mjs '.repeat(8)}`.trim();
const PROJECT = {
  'package.json': `{"scripts":{"test":"x","lint":"y"},"dependencies":{"a":"1"},"workspaces":["packages/*","apps/*"]}`,
  'package-lock.json': '{}',
  'go.mod': 'module a\nrequire x v1\n',
  'src/a.ts': '',
};

test.each<[string, Record<string, string>]>([
  ["Prettier's defaults", {}],
  ['.prettierrc', { '.prettierrc': '{"singleQuote":true,"tabWidth":4,"printWidth":60}' }],
  [
    '.prettierrc as YAML with overrides',
    { '.prettierrc': 'overrides:\n  - files: "*.yaml"\n    options: {tabWidth: 8}' },
  ],
  ['.prettierrc for another file', { '.prettierrc.json': '{"overrides":[{"files":"*.ts","options":{"tabWidth":3}}]}' }],
  [
    'package.json',
    { 'package.json': '{"prettier":{"singleQuote":true,"bracketSpacing":false},"scripts":{"test":"x"}}' },
  ],
  [
    'a program',
    { 'prettier.config.mjs': 'export default {\n  singleQuote: true,\n  // tabWidth: 3,\n  tabWidth: 6,\n};\n' },
  ],
  ['.prettierrc.toml', { '.prettierrc.toml': 'singleQuote = true\ntabWidth = 3\n' }],
  ['prose that is folded', { '.prettierrc': '{"proseWrap":"always","tabWidth":4}' }],
  [
    '.editorconfig',
    { '.editorconfig': 'root = true\n[*]\nindent_style = space\nindent_size = 4\nmax_line_length = 100\n' },
  ],
  [
    '.editorconfig for YAML',
    {
      '.editorconfig':
        '[*]\nindent_style = tab\nindent_size = tab\ntab_width = 8\n[*.{yml,yaml}]\nindent_style = space\nindent_size = 2\n',
    },
  ],
  ['Windows line ends', { '.editorconfig': '[*]\nend_of_line = crlf\n' }],
])('init writes a config that Prettier leaves unchanged: %s', async (_, files) => {
  for (const [name, text] of Object.entries({ ...PROJECT, ...files })) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const agent = { type: 'command', command: ['node', LONG, 'true', "it's", 'say "x"', '- a: \\d'] };
  const { file, warnings } = await initProject({ root, target: 'feature/ü: x', agent, install: 'npm install x' });
  const options = await resolveConfig(join(root, file), { editorconfig: true, useCache: false });
  const text = await readFile(join(root, file), 'utf8');
  expect(await check(text, { ...options, filepath: file }), text).toBe(true);
  expect(warnings.filter((line) => line.includes('config.yaml'))).toEqual([]);
});
