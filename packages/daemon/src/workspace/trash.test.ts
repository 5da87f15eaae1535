import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openTrash } from './trash.ts';

const folder = mkdtempSync(join(tmpdir(), 'tidemill-trash-'));
const trashFolder = join(folder, 'trash');
const go = join(folder, 'go');
afterEach(() => vi.unstubAllEnvs());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A deletion that ends when the file `go` is there, as one of very many files does on a busy machine. */
function slowly(): void {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nuntil [ -e '${go}' ] || [ ! -d '${folder}' ]; do sleep 0.02; done\nshift 2\nexec "$@"\n`;
  writeFileSync(join(bin, 'nice'), script, { mode: 0o755 });
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
}

test('a stop does not wait until very many files are deleted, and the next start deletes what is left', async () => {
  slowly();
  const large = join(folder, 'large');
  mkdirSync(large);
  writeFileSync(join(large, 'file'), 'x');
  const trash = openTrash(folder);
  await trash.throwAway(large);
  await trash.settled({ atMostMs: 1 });
  expect(existsSync(large)).toBe(false);
  expect(readdirSync(trashFolder)).toHaveLength(1);
  const next = openTrash(folder);
  await next.empty();
  writeFileSync(go, '');
  await Promise.all([trash.settled(), next.settled()]);
  expect(readdirSync(trashFolder)).toEqual([]);
});
