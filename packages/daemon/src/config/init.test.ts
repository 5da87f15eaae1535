import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { detectGates } from './detect.ts';
import { initProject, splitWords } from './init.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tm init ü '));
});
afterEach(() => rm(root, { recursive: true }));

const table: [name: string, files: Record<string, string>, tools: string[], runs: string[]][] = [
  ['nothing', { 'readme.md': 'hi' }, [], []],
  ['npm', { 'package.json': '{"scripts":{"test":"node --test","lint":"x"}}' }, ['npm'], ['npm run lint', 'npm test']],
  [
    'npm without tests',
    { 'package.json': '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}' },
    [],
    [],
  ],
  [
    'npm with dependencies',
    { 'package.json': '{"scripts":{"test":"x"},"devDependencies":{"a":"1"}}', 'package-lock.json': '{}' },
    ['npm'],
    ['npm ci --prefer-offline', 'npm test'],
  ],
  ['pnpm by lock', { 'package.json': '{"scripts":{"test":"x"}}', 'pnpm-lock.yaml': '' }, ['pnpm'], ['pnpm test']],
  [
    'pnpm by field',
    { 'package.json': '{"packageManager":"pnpm@9.0.0","scripts":{"test":"x"}}' },
    ['pnpm'],
    ['pnpm test'],
  ],
  ['a broken package.json', { 'package.json': '{' }, [], []],
  [
    'pytest',
    { 'pyproject.toml': '[tool.pytest.ini_options]\n[tool.ruff]\n' },
    ['pytest'],
    ['ruff check .', 'python3 -m pytest -q'],
  ],
  ['pytest by folder', { 'requirements.txt': '', 'tests/test_a.py': '' }, ['pytest'], ['python3 -m pytest -q']],
  ['cargo', { 'Cargo.toml': '[package]\nname = "a"\n' }, ['cargo'], ['cargo test']],
  ['go', { 'go.mod': 'module a\n' }, ['go'], ['go vet ./...', 'go test ./...']],
  ['make', { Makefile: 'all:\n\ntest: all\n\techo\n' }, ['make'], ['make test']],
  ['a Makefile with a variable only', { Makefile: 'test := 1\n' }, [], []],
  ['make beside npm', { Makefile: 'test:\n', 'package.json': '{"scripts":{"test":"x"}}' }, ['npm'], ['npm test']],
  [
    'two languages',
    { 'go.mod': 'module a\n', 'Cargo.toml': '[package]\n' },
    ['cargo', 'go'],
    ['cargo test', 'go vet ./...', 'go test ./...'],
  ],
];

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
}

describe('detection', () => {
  test.each(table)('%s', async (_, files, tools, runs) => {
    await put(files);
    const detected = await detectGates(root);
    expect(detected.tools).toEqual(tools);
    expect(detected.gates.map((gate) => gate.run)).toEqual(runs);
    expect(new Set(detected.gates.map((gate) => gate.name)).size).toBe(runs.length);
  });
});

describe('init', () => {
  test.each(table)('writes a config that holds: %s', async (_, files, __, runs) => {
    await put(files);
    const result = await initProject({ root, target: 'feature/ünïcode: "x"', agent: './my agent' });
    expect(result).toMatchObject({ written: true, target: 'feature/ünïcode: "x"' });
    expect(result.gates.map((gate) => gate.run)).toEqual(runs);
  });

  test('explains the placeholder where no agent is given', async () => {
    const result = await initProject({ root, target: 'main' });
    expect(await readFile(join(root, result.file), 'utf8')).toContain('replace ./my-agent by your agent');
    expect(result.warnings.join()).toContain('there is no ./my-agent');
  });

  test('never overwrites', async () => {
    const mine = 'agents: { default: { type: command, command: [mine] } }\n';
    await put({ '.tidemill/config.yaml': mine });
    expect(await initProject({ root, target: 'main' })).toMatchObject({ written: false });
    expect(await readFile(join(root, '.tidemill/config.yaml'), 'utf8')).toBe(mine);
  });

  test.each([
    ['./a --b', ['./a', '--b']],
    ['"my agent" \'-x y\' a\\ b', ['my agent', '-x y', 'a b']],
    ['node "C:\\\\x"', ['node', 'C:\\x']],
  ])('splits %s', (line, words) => {
    expect(splitWords(line)).toEqual(words);
  });

  test('refuses an empty command', () => {
    expect(() => splitWords('  ')).toThrow('empty');
  });
});
