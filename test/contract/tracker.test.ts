import {
  linkSync,
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
import { afterEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { FileTracker } from '../../packages/daemon/src/trackers/files/file-tracker.ts';
import { type TrackerPlace, trackerSuite } from './tracker-suite.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'tidemill-backlog-'));
  folders.push(folder);
  const root = join(folder, 'repository');
  const dataDir = join(folder, 'data');
  mkdirSync(join(root, 'backlog'), { recursive: true });
  const open = () => new FileTracker({ root, folder: 'backlog', dataDir });
  const file = (name: string) => join(root, 'backlog', `${name}.md`);
  const write = (name: string, text: string) => writeFileSync(file(name), text);
  return { root, dataDir, open, file, write, tracker: open() };
}

async function files(): Promise<TrackerPlace> {
  const { open, file, write, dataDir, tracker } = place();
  let count = 0;
  const heads = new Map<string, Record<string, unknown>>();
  const save = (name: string, body: string) => write(name, `---\n${stringify(heads.get(name))}---\n\n${body}\n`);
  const nameOf = (key: string) => key.split('#')[1]!;
  const change = (key: string, more: object) => {
    const name = nameOf(key);
    const body = readFileSync(file(name), 'utf8').split('---\n\n')[1] ?? '';
    heads.set(name, { ...heads.get(name), ...more });
    save(name, body);
  };
  return {
    tracker,
    other: open(),
    add: async ({ title, body = '', labels = [], blockedBy = [], isSelected = true }) => {
      count += 1;
      const name = `${count}-item`;
      const status = isSelected ? 'todo' : 'draft';
      heads.set(name, { title, labels, status, blocked_by: blockedBy.map(nameOf) });
      save(name, body);
      return `files:backlog#${name}`;
    },
    edit: async (key, more) => change(key, more),
    close: async (key) => change(key, { status: 'done' }),
    reopen: async (key) => change(key, { status: 'todo' }),
    say: null,
    remove: async (key) => rmSync(file(nameOf(key))),
    shown: async (key) => {
      const states = join(dataDir, 'tracker', 'states');
      const all = readdirSync(states).map((name) => JSON.parse(readFileSync(join(states, name), 'utf8')));
      const own = all.find(({ name }) => name === nameOf(key));
      const theirs = (heads.get(nameOf(key))?.labels ?? []) as string[];
      return { comments: own?.comment ? [own.comment.text] : [], labels: [...theirs, ...(own?.labels ?? [])] };
    },
    stop: async () => undefined,
  };
}

trackerSuite('files of the repository', files);

describe('a backlog of files', () => {
  test('a file that is half written, or a folder that is not there, is no item that was removed', async () => {
    const { write, file, root, tracker } = place();
    write('add', '---\nid: sums-1\n---\n# Add sums\n');
    const key = 'files:backlog#sums-1';
    expect(await tracker.items([key])).toMatchObject([{ key, state: 'open' }]);
    write('add', '---\nid: sums-1\nlabels: [bug\n---\n# Add sums\n');
    expect(await tracker.items([key])).toEqual([]);
    rmSync(file('add'));
    expect(await tracker.items([key])).toEqual([{ key, gone: 'its file is gone' }]);
    rmSync(join(root, 'backlog'), { recursive: true });
    await expect(tracker.items([key])).rejects.toMatchObject({ trouble: 'access' });
    await expect(tracker.changes(null)).rejects.toThrow('the folder backlog of the tracker does not exist here');
  });

  test('too many files are an error, not a shorter list', async () => {
    const { write, file, tracker } = place();
    write('item-0', '');
    // Links, because a system takes seconds to create as many files.
    for (let n = 1; n <= 5_000; n += 1) linkSync(file('item-0'), file(`item-${n}`));
    await expect(tracker.changes(null)).rejects.toThrow('more than 5000 files');
  });

  test('nothing in the repository is ever written', async () => {
    const { write, file, root, tracker } = place();
    const text = '---\nid: 7\nstatus: todo\n---\n# Add sums\n\n- [ ] it adds\n';
    write('add', text);
    const key = 'files:backlog#7';
    await tracker.comment(key, { instance: 'x', isActive: true, text: 'x', id: null });
    await tracker.label(key, { add: ['tidemill:in-progress'], remove: [] });
    await tracker.close(key);
    await tracker.create({ title: 'x', body: 'y', labels: [], marker: 'm' });
    expect(readFileSync(file('add'), 'utf8')).toBe(text);
    expect(readdirSync(join(root, 'backlog'))).toEqual(['add.md']);
    const [item] = await tracker.items([key]);
    expect(item).toMatchObject({ state: 'closed', content: { title: 'Add sums', body: '- [ ] it adds' } });
    // A person who changes the file after it was done opens it again.
    write('add', text.replace('it adds', 'it adds fractions'));
    expect((await tracker.items([key]))[0]).toMatchObject({ state: 'open' });
  });

  test('accepts other ways to write a file', async () => {
    const { write, tracker } = place();
    write('plain-text', 'Just a text.');
    write('heading', '# The title #\nAnd a text.');
    write('listed', '---\nlabels: bug, P0\ndepends_on: [heading]\n---\nx');
    write('windows', '\uFEFF---\r\ntitle: From Windows\r\n---\r\nx\r\n');
    const { items } = await tracker.changes(null);
    const shown = items.map(({ content: { title, kind, priority, blockedBy } }) => [
      title,
      kind,
      priority,
      blockedBy.length,
    ]);
    expect(shown).toEqual([
      ['The title', 'feature', 2, 0],
      ['listed', 'bug', 0, 1],
      ['plain text', 'feature', 2, 0],
      ['From Windows', 'feature', 2, 0],
    ]);
  });

  test('a file that cannot be read is a fault with its line, and stops no other', async () => {
    const { write, root, tracker } = place();
    write('broken', '---\ntitle: [unclosed\n---\nx');
    write('wrong', '---\ntitle: 5\nlabels: {a: 1}\n---\nx');
    write('twin', '---\nid: good\n---\nx');
    write('good', 'x');
    write('README', 'about the backlog');
    symlinkSync('/etc/hostname', join(root, 'backlog', 'link.md'));
    const { items, faults } = await tracker.changes(null);
    expect(items.map(({ key }) => key)).toEqual(['files:backlog#good']);
    expect([...faults!.keys()].sort()).toEqual(['files:backlog#broken', 'files:backlog#good', 'files:backlog#wrong']);
    expect(faults!.get('files:backlog#broken')).toMatch(/^broken\.md:\d+: /);
    expect(faults!.get('files:backlog#good')).toContain('two files have this id');
  });

  test('a file of 1 MB is read in part, and a folder outside of the repository not at all', async () => {
    const { write, root, tracker, dataDir } = place();
    write('long', `# Long\n${'word '.repeat(250_000)}`);
    const [item] = (await tracker.changes(null)).items;
    expect(item!.content.body.length).toBeLessThan(61_000);
    symlinkSync(tmpdir(), join(root, 'away'));
    await expect(new FileTracker({ root, folder: 'away', dataDir }).changes(null)).rejects.toMatchObject({
      trouble: 'access',
    });
  });
});
