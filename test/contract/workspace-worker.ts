import { openWorkspace } from '../../packages/daemon/src/workspace/workspace.ts';
import { realClock, write } from './workspace-bed.ts';

/** A separate process that repeats one task, for tests that kill it. */
const [root = '', dataDir = ''] = process.argv.slice(2);
const task = { number: 5, branch: 'task/5-gone' };
const workspace = await openWorkspace({
  root,
  dataDir,
  target: 'main',
  landing: 'squash',
  push: 'never',
  clock: realClock,
});
console.log('ready');
for (let round = 0; ; round++) {
  const { path } = await workspace.open(task);
  await write(path, Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`work/${round}/${i}`, `${i}\n`])));
  await workspace.capture(task, 'work\n');
  const candidate = await workspace.candidate(task);
  if (candidate.kind === 'clean') {
    const commit = await workspace.seal(task, candidate, 'sealed\n');
    await (await workspace.checkOut(commit)).close();
  }
  if (round % 3 === 2) await workspace.remove(task);
}
