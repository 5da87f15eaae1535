import { expect, it } from 'vitest';
import { git, makeBed, write } from './workspace-bed.ts';

it('old snapshots are removed by name and commit: a gone one is no error, a changed one and other refs stay', async () => {
  const bed = await makeBed({ name: 'snapshots' });
  try {
    const task = { number: 1, branch: 'task/1-tide' };
    const { path } = await bed.workspace.open(task);
    for (const text of ['one', 'two', 'three']) {
      await write(path, { 'a.txt': text });
      await bed.workspace.snapshot(task, `before ${text}`);
    }
    const [first, second, third] = await bed.workspace.snapshots();
    expect([first, second, third].map((each) => each?.why)).toEqual(['before one', 'before two', 'before three']);
    await git(bed.root, 'update-ref', second!.ref, third!.commit);
    const head = await bed.workspace.targetCommit();
    await bed.workspace.dropSnapshots([first!, second!, { ref: 'refs/heads/main', commit: head }]);
    const refs = async () => (await bed.workspace.snapshots()).map(({ ref }) => ref);
    expect(await refs()).toEqual([second!.ref, third!.ref]);
    expect(await bed.workspace.targetCommit()).toBe(head);
    await bed.workspace.dropSnapshots([first!, third!]);
    expect(await refs()).toEqual([second!.ref]);
  } finally {
    await bed.remove();
  }
});
