import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { installCommands, uninstallCommands } from './command-files.ts';

let root: string;
let at: { root: string; dataDir: string };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemill-commands-'));
  at = { root, dataDir: join(root, 'data') };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const NAMES = ['project-create.md', 'project-start.md'];
const FILES = NAMES.map((name) => `.claude/commands/${name}`);
const folder = () => join(root, '.claude/commands');
const put = (name: string, text: string) => {
  mkdirSync(folder(), { recursive: true });
  writeFileSync(join(folder(), name), text);
};
const read = (name: string) => readFileSync(join(folder(), name), 'utf8');

describe('the commands of Claude Code', () => {
  test('are installed once, follow a newer version, and are removed with their folder', () => {
    expect(installCommands(at, [[NAMES[0]!, 'older words']])).toEqual({ changed: [FILES[0]], kept: [] });
    expect(installCommands(at)).toEqual({ changed: FILES, kept: [] });
    expect(read('project-start.md')).toContain('`tidemill task start NUMBER`');
    expect(read('project-create.md')).toContain('$ARGUMENTS');
    expect(installCommands(at)).toEqual({ changed: [], kept: [] });
    expect(uninstallCommands(at)).toEqual({ changed: FILES, kept: [] });
    expect(existsSync(folder())).toBe(false);
    expect(uninstallCommands(at)).toEqual({ changed: [], kept: [] });
  });

  test('a person’s file of the same name stays, byte for byte, and is named; so does the folder', () => {
    put('project-start.md', 'mine\r\n');
    put('other.md', 'other');
    const kept = [{ file: FILES[1], why: 'it was there before' }];
    expect(installCommands(at)).toEqual({ changed: [FILES[0]], kept });
    expect(uninstallCommands(at)).toEqual({ changed: [FILES[0]], kept: [] });
    expect(read('project-start.md')).toBe('mine\r\n');
    expect(readdirSync(folder()).sort()).toEqual(['other.md', 'project-start.md']);
  });

  test('that a person changed since are neither replaced nor removed', () => {
    installCommands(at);
    put('project-create.md', 'my own words');
    const kept = [{ file: FILES[0], why: 'it was changed since it was installed' }];
    expect(installCommands(at)).toEqual({ changed: [], kept });
    expect(uninstallCommands(at)).toEqual({ changed: [FILES[1]], kept });
    expect(readdirSync(folder())).toEqual(['project-create.md']);
  });

  test('are never written through a link, or to a folder of that name', () => {
    const elsewhere = join(root, 'elsewhere');
    mkdirSync(elsewhere);
    mkdirSync(join(root, '.claude'));
    symlinkSync(elsewhere, folder());
    expect(installCommands(at).kept.map(({ why }) => why)).toEqual(Array(2).fill('.claude/commands is a link'));
    expect(readdirSync(elsewhere)).toEqual([]);
    rmSync(folder());
    mkdirSync(join(folder(), 'project-start.md'), { recursive: true });
    expect(installCommands(at).kept).toEqual([{ file: FILES[1], why: 'it is not a regular file' }]);
  });

  test('count as a person’s without the receipt', () => {
    installCommands(at);
    rmSync(at.dataDir, { recursive: true });
    expect(uninstallCommands(at)).toEqual({ changed: [], kept: [] });
    expect(readdirSync(folder())).toEqual(NAMES);
  });
});
