import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { eachProcess, processFile, processRow } from '../process/process-table.ts';
import { type Blobs, openBlobs } from './blobs.ts';

let repository: TemporaryRepository;
let blobs: Blobs;
beforeEach(() => {
  repository = new TemporaryRepository();
  blobs = openBlobs(`${repository.root}/.git`);
});
afterEach(async () => {
  await blobs.close();
  repository.remove();
});

const save = (content: string | Buffer) =>
  execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: repository.root, input: content }).toString().trim();
const LIMITS = { largest: 1000, total: 5000 };

test('the blob reader reads any content, also what was written after it started', async () => {
  const contents = ['', 'a\n', '\n\n', 'no end', Buffer.from([0, 10, 255, 10]), 'ünï\n'.repeat(100)];
  for (const content of contents) {
    const oid = save(content);
    expect((await blobs.read([oid, oid], LIMITS)).get(oid)).toEqual(Buffer.from(content));
  }
  const oids = contents.map(save);
  expect([...(await blobs.read(oids, LIMITS)).keys()]).toEqual(oids);
});

test('the blob reader leaves out what is too large, missing, no blob, or no name', async () => {
  const [small, large] = [save('x'), save('y'.repeat(1001))];
  const tree = repository.git('rev-parse', 'HEAD^{tree}');
  const asked = [large, 'f'.repeat(40), tree, 'HEAD', 'info x\ncontents y', small];
  expect([...(await blobs.read(asked, LIMITS)).keys()]).toEqual([small]);
  const many = Array.from({ length: 10 }, (_, index) => save(`${index}`.repeat(900)));
  expect((await blobs.read(many, LIMITS)).size).toBe(5);
});

test('the blob reader answers each of many requests at once, and goes on after its process was killed', async () => {
  const oids = Array.from({ length: 50 }, (_, index) => save(`content ${index}`));
  const answers = await Promise.all(oids.map((oid) => blobs.read([oid], LIMITS)));
  expect(answers.map((found) => [...found.values()].join())).toEqual(oids.map((_, index) => `content ${index}`));
  const readers: number[] = [];
  await eachProcess((pid) => {
    const isReader = processFile(pid, 'cmdline')?.toString().includes('--batch-command') ?? false;
    if (isReader && processRow(pid)?.parent === process.pid) readers.push(pid);
  });
  for (const pid of readers) process.kill(pid, 'SIGKILL');
  expect((await blobs.read([oids[7]!], LIMITS)).get(oids[7]!)?.toString()).toBe('content 7');
});
