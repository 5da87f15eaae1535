import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Finding } from '@tidemill/contract';
import { gitVersion } from '../git/program.ts';
import type { Store } from '../ports.ts';
import { leakedProcesses, leakScanObstacle } from '../process/leaks.ts';
import { sandboxStatus, UNHELD } from '../process/sandbox.ts';
import { compare } from '../store/compare.ts';
import { LEAST_FREE_BYTES } from '../workspace/outage.ts';

const SHOWN = 5;
const TO_REPAIR = 'Stop the daemon and run `tidemill doctor --repair`: the row is set aside and rebuilt from the log.';
/** A run's log, a worktree and the dependencies of one project easily take as much. */
const LITTLE_BYTES = 1024 ** 3;

/** The machine and the store: what `doctor` looks at besides the projects. */
export async function examineMachine(about: {
  store: Store;
  storeName: string;
  folderId: string;
  dataFolder: string;
  /** Of an earlier version: it is renamed once its tokens are in the store. */
  tokenFile: string;
  daemonPid: number | null;
}): Promise<Finding[]> {
  const findings: Finding[] = [];
  const say = (level: Finding['level'], check: string, text: string, hint = '') =>
    findings.push({ level, check, text, hint });
  try {
    say('ok', 'git', `version ${await gitVersion()}`);
  } catch (error) {
    const hint = error instanceof Error && 'hint' in error ? String(error.hint) : '';
    say('problem', 'git', error instanceof Error ? error.message : String(error), hint);
  }
  await sayFreeSpace(about.dataFolder, say);
  say('ok', 'store', `${about.storeName} opens, ${await about.store.lastSeq()} events`);

  const { rows, log, unread } = await compare(about.store);
  if (rows.length + log.length === 0) say('ok', 'log', 'a replay of the log gives the rows of the store');
  for (const { noun, id, why } of rows.slice(0, SHOWN)) say('problem', 'log', `${noun} ${id} ${why}`, TO_REPAIR);
  if (rows.length > SHOWN)
    say('problem', 'log', `${rows.length - SHOWN} more rows are not what the log says`, TO_REPAIR);
  for (const fault of log.slice(0, SHOWN))
    say('problem', 'log', fault, 'The log is the truth. Keep the store as it is and report this.');
  for (const event of unread.slice(0, SHOWN))
    say('warning', 'log', event, 'It stays in the log, and everything goes on without it.');

  if (existsSync(about.tokenFile))
    say(
      'problem',
      'tokens',
      `${about.tokenFile} is damaged: its tokens were not taken over into the store`,
      'Move the file away, and make the tokens again with `tidemill token add`.',
    );

  const marked = await leakedProcesses(about.folderId);
  const leaked = marked.filter(({ ownerPid }) => ownerPid !== about.daemonPid);
  if (leakScanObstacle) say('warning', 'processes', leakScanObstacle);
  else if (leaked.length === 0) say('ok', 'processes', 'none left over');
  for (const { pid, command } of leaked.slice(0, SHOWN)) {
    say('problem', 'processes', `${pid} was left over: ${command}`, 'The next `tidemill up` ends it.');
  }

  const sandbox = await sandboxStatus();
  if (sandbox.available) say('ok', 'sandbox', sandbox.why);
  else say('warning', 'sandbox', sandbox.why, UNHELD);
  return findings;
}

async function sayFreeSpace(
  folder: string,
  say: (level: Finding['level'], check: string, text: string, hint?: string) => void,
): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const text = `${(free / 1024 ** 2).toLocaleString('en-US', { maximumFractionDigits: 0 })} MB are free for ${folder}`;
  const hint = 'Free some space. With less than 16 MB nothing is begun; work goes on by itself when there is more.';
  if (free < LEAST_FREE_BYTES) say('problem', 'disk', text, hint);
  else if (free < LITTLE_BYTES) say('warning', 'disk', text, hint);
  else say('ok', 'disk', text);
}
