import { plainLine, withoutSecrets } from '@tidemill/contract';

/** What a run, a task or a session did: the files it wrote, and the commands it started. */
export interface Deeds {
  writes: readonly string[];
  commands: readonly string[];
}

/** Something that happened several times, and what was done each time. */
export interface RepeatedViolation {
  /** One for each run, task or session in which it happened. */
  bad: readonly Deeds[];
  /** All others, in which it did not happen. */
  others: readonly Deeds[];
  /** What its traces say. */
  texts: readonly string[];
  /** The newest explanation of what would have been right. */
  advice: string;
}

export interface DerivedGuard {
  /** For people: the file or the command. */
  about: string;
  when: { path: string[]; access: ['write'] } | { command: string[] };
  reason: string;
}

interface Candidate {
  about: string;
  when: DerivedGuard['when'];
  /** How a trace may name it; one is enough. */
  names: string[];
  fits(deeds: Deeds): boolean;
  /** More specific rules are better. */
  rank: number;
}

/** How often the same thing must happen. */
const LEAST_TIMES = 3;
/** The rule must explain nearly all cases … */
const LEAST_EXPLAINED = 0.8;
/** … and be nearly unknown where all went well. */
const MOST_ELSEWHERE = 0.1;
const MOST_REASON = 300;

/**
 * The narrowest rule that tells the cases from everything else, or null. It names a file or a command that was part of (nearly) all
 * cases and of nearly no other run, and that the traces themselves name. Chance alone rarely does both.
 */
export function deriveGuard({ bad, others, texts, advice }: RepeatedViolation): DerivedGuard | null {
  if (bad.length < LEAST_TIMES) return null;
  const said = texts.join('\n').toLowerCase();
  const least = Math.max(LEAST_TIMES, Math.ceil(bad.length * LEAST_EXPLAINED));
  const most = Math.floor(others.length * MOST_ELSEWHERE);
  const candidates = new Map<string, Candidate>();
  for (const deeds of bad)
    for (const each of [...deeds.writes.flatMap(ofPath), ...deeds.commands.flatMap(ofCommand)])
      candidates.set(each.about, each);
  const found = [...candidates.values()]
    .filter(({ names }) => names.some((name) => said.includes(name.toLowerCase())))
    .filter(({ fits }) => bad.filter(fits).length >= least && others.filter(fits).length <= most)
    .sort((a, b) => b.rank - a.rank || (a.about < b.about ? -1 : 1));
  const best = found[0];
  return best ? { about: best.about, when: best.when, reason: reasonOf(best, bad.length, advice) } : null;
}

/** The file itself, and its folder, if it is not the top. */
function ofPath(path: string): Candidate[] {
  if (path === '' || path === '.' || path.startsWith('/') || path.startsWith('..') || /[*?[\]{}]/.test(path)) return [];
  const cut = path.lastIndexOf('/');
  const file: Candidate = {
    about: path,
    when: { path: [path], access: ['write'] },
    names: [path],
    fits: ({ writes }) => writes.includes(path),
    rank: 3,
  };
  if (cut < 0) return [file];
  const folder = path.slice(0, cut);
  const inside: Candidate = {
    about: `${folder}/`,
    when: { path: [`${folder}/**`], access: ['write'] },
    names: [`${folder}/`, path],
    fits: ({ writes }) => writes.some((each) => each.startsWith(`${folder}/`)),
    rank: 1,
  };
  return [file, inside];
}

/** Its first two words: `npm install`, `rm -rf`. One word alone would be too much of a program. */
function ofCommand(command: string): Candidate[] {
  const [program = '', second = ''] = command.split(' ');
  if (!/^[\w./-]{2,40}$/.test(program) || !/^[\w:.@/-]{2,40}$/.test(second)) return [];
  const words = `${program} ${second}`;
  const fits = ({ commands }: Deeds) => commands.some((each) => each === words || each.startsWith(`${words} `));
  return [{ about: words, when: { command: [`^${escaped(words)}( |$)`] }, names: [words], fits, rank: 2 }];
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

function reasonOf({ when }: Candidate, times: number, advice: string): string {
  const what = 'path' in when ? '{path} is not changed here' : '"{command}" is not used here';
  // Braces would be filled in.
  const clean = withoutSecrets(plainLine(advice)).replace(/[{}]/g, '').trim().slice(0, MOST_REASON);
  return `${what}: it went wrong ${times} times.${clean === '' ? '' : ` ${clean}`}`;
}
