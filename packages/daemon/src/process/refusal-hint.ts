import path from 'node:path';
import { gitWith } from '../git/program.ts';
import type { ChildHost } from './child.ts';
import { clonePath } from './clone-path.ts';
import { isInside } from './mounts.ts';
import { sandboxStatus } from './sandbox.ts';
import { isSystemPlace } from './system-view.ts';

// Output is written by code of an agent, and agents read what is said about it. So a hint is made from the text and the
// settings alone. Nothing is looked up outside, and no hint tells whether a path or a variable exists.

export interface Confined {
  host: ChildHost;
  worktree: string;
  network: boolean;
  /** Agents may be given folders to write, and always have network. */
  isAgent?: boolean;
}

const MOST_HINTS = 3;
const MOST_LINES = 400;
/** Each costs a start of git. */
const MOST_ASKED = 5;
const LONGEST_PATH = 200;
const CONFIG = '.tidemill/config.yaml';

const MISSING = /no such file or directory|ENOENT|permission denied|EACCES/i;
const UNWRITABLE = /read-only file system|EROFS/i;
const UNRESOLVED = /cannot find (?:package|module)/i;
const OFFLINE =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|could not resolve host|temporary failure in name resolution|network is unreachable/i;
const UNSET = [
  /\b([A-Z][A-Z0-9_]{2,}): (?:unbound variable|parameter not set)/,
  /\bKeyError: '([A-Z][A-Z0-9_]{2,})'/,
  /\b[Ee]nvironment [Vv]ariable[: ]+["'`]?([A-Z][A-Z0-9_]{2,})\b/,
  /\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)["'`]? (?:is not set|is not defined|must be set|is required|is missing)/,
];
/** Every sandbox has its own of these. */
const OWN = ['/proc', '/sys', '/dev', '/tmp'];

/** What the sandbox may have refused to a command that failed, and the setting that would allow it. */
export async function refusalHints(text: string, { worktree, ...confined }: Confined): Promise<string[]> {
  if (confined.host.sandbox !== 'auto' || !(await sandboxStatus()).available) return [];
  // A proof prints the paths of the clone that it is shown as.
  const about = { ...confined, worktree: (await clonePath(confined.host, worktree)) ?? worktree };
  const lines = text.split('\n').slice(-MOST_LINES);
  const hints = new Set<string>();
  const asked = new Set<string>();
  for (const line of lines) {
    if (hints.size >= MOST_HINTS) break;
    const hint = hintFor(line, about) ?? (await includeHint(line, about, asked));
    if (hint !== null) hints.add(hint);
  }
  return [...hints];
}

function hintFor(line: string, about: Confined): string | null {
  const { host, worktree, network, isAgent } = about;
  if (!network && OFFLINE.test(line))
    return `The command has no network in the sandbox: \`network: true\` in its entry of ${CONFIG} allows it.`;
  const unset = UNSET.map((pattern) => pattern.exec(line)?.[1]).find((name) => name !== undefined);
  if (unset)
    return `A command gets only the variables that are named for it: \`pass: [${unset}]\` in its entry of ${CONFIG} passes ${unset} on, if the daemon has it.`;
  const isUnwritable = UNWRITABLE.test(line);
  const isUnresolved = UNRESOLVED.test(line);
  if (!isUnwritable && !isUnresolved && !MISSING.test(line)) return null;
  for (const place of pathsIn(line)) {
    if (place === worktree || isInside(place, worktree) || isInside(place, host.dataDir)) continue;
    if (isOwn(place) && !isInside(place, host.root)) continue;
    if (isUnwritable)
      return isAgent
        ? `The sandbox keeps ${place} read-only: \`writable\` in the agent's entry of ${CONFIG} allows writing.`
        : `The sandbox keeps ${place} read-only: commands write to their worktree, /tmp and an empty home only.`;
    if (isInside(place, host.root)) return checkoutHint(place, host.root, isUnresolved);
    if (isUnresolved || isSystemPlace(place) || isDeclared(place, host)) continue;
    return `The sandbox does not show ${place}: if it exists, \`readable: [${place}]\` in ${CONFIG} shows it.`;
  }
  return null;
}

function checkoutHint(place: string, root: string, isUnresolved: boolean): string {
  const name = isUnresolved ? 'node_modules' : path.relative(root, place);
  const seen = `The sandbox shows of the checkout only what git tracks, not ${isUnresolved ? 'its node_modules' : place}`;
  const copied = isUnresolved ? '' : `, and \`include: [${name}]\` copies an ignored file into every worktree`;
  return `${seen}: \`readable: [${name}]\` in ${CONFIG} shows it${copied}.`;
}

/** A file that git ignores is in no worktree. Only the rules are asked, not whether the checkout has the file. */
async function includeHint(line: string, { host, worktree }: Confined, asked: Set<string>): Promise<string | null> {
  if (!MISSING.test(line)) return null;
  for (const place of [...pathsIn(line), ...namesIn(line)]) {
    const name = path.relative(worktree, path.resolve(worktree, place));
    if (name === '' || name.startsWith('..') || asked.has(name) || asked.size >= MOST_ASKED) continue;
    asked.add(name);
    const ask = ['check-ignore', '--no-index', '-q', '--', name];
    const answer = await gitWith({ cwd: host.root })(ask, { answers: [1, 128] }).catch(() => null);
    if (answer?.code !== 0) continue;
    return `Git ignores ${name}, so a worktree does not have it: \`include: [${name}]\` in ${CONFIG} copies it from your checkout, if it is there.`;
  }
  return null;
}

const isOwn = (place: string) => OWN.some((folder) => place === folder || isInside(place, folder));

const isDeclared = (place: string, { readable = [] }: ChildHost) =>
  readable.some((folder) => place === folder || isInside(place, folder));

/** Absolute paths, the last one first: a line may begin with the name of the program. */
function pathsIn(line: string): string[] {
  const quoted = [...line.matchAll(/(['"`])(\/[^'"`]+)\1/g)].map(([, , found = '']) => found);
  const bare = [...line.matchAll(/(?:^|[\s:=(])(\/[^\s'"`:;,()<>|]+)(?=[\s:;,)]|$)/g)].map(([, found = '']) => found);
  return plain([...bare, ...quoted])
    .map((place) => path.resolve(place))
    .reverse();
}

/** Relative names, as in `open '.env'` and `cat: .env: No such file`. */
function namesIn(line: string): string[] {
  const quoted = [...line.matchAll(/(['"`])([\w.][\w./-]*)\1/g)].map(([, , found = '']) => found);
  const bare = [...line.matchAll(/(?:^|[\s:])([\w.][\w./-]*): no such file/gi)].map(([, found = '']) => found);
  return plain([...quoted, ...bare]).slice(0, 2);
}

const plain = (places: string[]) =>
  places.filter((place) => place.length <= LONGEST_PATH && /^[\p{L}\p{N} ./_@+~%#=-]+$/u.test(place));
