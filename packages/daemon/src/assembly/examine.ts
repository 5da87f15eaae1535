import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Finding } from '@tidemill/contract';
import { gitVersion } from '../git/program.ts';
import type { Store } from '../ports.ts';
import { leakedProcesses, leakScanObstacle, type MarkedProcess } from '../process/leaks.ts';
import { observingStatus, UNOBSERVED } from '../process/observe.ts';
import { sandboxStatus, UNHELD } from '../process/sandbox.ts';
import { compare } from '../store/compare.ts';
import { LEAST_FREE_BYTES } from '../workspace/outage.ts';

const SHOWN = 5;
const TO_REPAIR = 'Stop the daemon and run `tidemill doctor --repair`: the row is set aside and rebuilt from the log.';
/** A run's log, a worktree and the dependencies of one project can need this much. */
const LITTLE_BYTES = 1024 ** 3;

/** The machine and the store, which `doctor` checks besides the projects. */
export async function examineMachine(
  about: {
    store: Store;
    storeName: string;
    dataFolder: string;
    /** From an earlier version. It is renamed once its tokens are in the store. */
    tokenFile: string;
  } & Leftovers,
): Promise<Finding[]> {
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
  if (rows.length > SHOWN) say('problem', 'log', `${rows.length - SHOWN} more rows differ from the log`, TO_REPAIR);
  for (const fault of log.slice(0, SHOWN))
    say('problem', 'log', fault, 'The log is the source of truth. Leave the store unchanged and report this.');
  for (const event of unread.slice(0, SHOWN)) say('warning', 'log', event, 'It stays in the log and is ignored.');

  if (existsSync(about.tokenFile))
    say(
      'problem',
      'tokens',
      `${about.tokenFile} is damaged: its tokens were not imported into the store`,
      'Move the file away and create the tokens again with `tidemill token add`.',
    );

  const leaked = await leftOver(about);
  if (leakScanObstacle) say('warning', 'processes', leakScanObstacle);
  else if (leaked.length === 0) say('ok', 'processes', 'none left over');
  for (const { pid, command } of leaked.slice(0, SHOWN)) {
    say('problem', 'processes', `process ${pid} is left over: ${command}`, 'The next `tidemill up` ends it.');
  }

  const sandbox = await sandboxStatus();
  if (sandbox.available) say('ok', 'sandbox', sandbox.why);
  else say('warning', 'sandbox', sandbox.why, UNHELD);
  const observing = await observingStatus();
  const level = observing.traces && observing.times ? 'ok' : 'warning';
  say(level, 'observing', `what gates read is observed ${observing.why}`, level === 'ok' ? undefined : UNOBSERVED);
  return findings;
}

interface Leftovers {
  folderId: string;
  daemonPid: number | null;
}

/**
 * Processes that outlived their daemon. They are read twice, because a process of the running daemon that just loses its
 * parent looks the same until it ends.
 */
async function leftOver({ folderId, daemonPid }: Leftovers): Promise<MarkedProcess[]> {
  const strays = async () => (await leakedProcesses(folderId)).filter(({ ownerPid }) => ownerPid !== daemonPid);
  const before = await strays();
  if (before.length === 0) return [];
  const after = new Set((await strays()).map(({ pid }) => pid));
  return before.filter(({ pid }) => after.has(pid));
}

async function sayFreeSpace(
  folder: string,
  say: (level: Finding['level'], check: string, text: string, hint?: string) => void,
): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const text = `${(free / 1024 ** 2).toLocaleString('en-US', { maximumFractionDigits: 0 })} MB are free for ${folder}`;
  const hint = 'Free some space. Below 16 MB no work starts. It resumes automatically when there is more space.';
  if (free < LEAST_FREE_BYTES) say('problem', 'disk', text, hint);
  else if (free < LITTLE_BYTES) say('warning', 'disk', text, hint);
  else say('ok', 'disk', text);
}
