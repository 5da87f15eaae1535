import { openWorkspace } from '../../packages/daemon/src/workspace/workspace.ts';
import { realClock } from './workspace-bed.ts';

/** A separate process that lands a commit, for tests that kill it. */
const [root = '', dataDir = '', commit = '', base = ''] = process.argv.slice(2);
const workspace = await openWorkspace({
  root,
  dataDir,
  target: 'main',
  landing: 'squash',
  push: 'never',
  clock: realClock,
});
console.log(JSON.stringify(await workspace.land(commit, base)));
await workspace.close();
