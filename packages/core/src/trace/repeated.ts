import { ENGINE, LessonDraft, PATTERN_AT, type PatternView, type Trace } from '@tidemill/contract';
import { fitsLesson, type LessonQuestion } from '../lesson/choose.ts';
import { matchesEverything, problemOfLesson } from '../lesson/problem.ts';
import { fingerprintOf } from '../pipeline/fingerprint.ts';
import { sharedWords, tellingLine } from './failure.ts';

type Kind = Pick<Trace, 'type' | 'source' | 'key'>;

/** Gates that check rules, not whether the code works. */
const RULES = /^gate:integrity:/;

/**
 * Whether a guard can help. What a guard refused already needs no other guard, and a failing test is not a rule that was
 * broken: both are lessons at most.
 */
export const mayBeGuarded = ({ type, source, key }: Kind): boolean =>
  (type === 'violation' && source !== 'guard' && source !== 'hook') ||
  type === 'correction' ||
  (type === 'failure' && RULES.test(key));

/** A task that is blocked, and a run that handed in the same again: the cause has a trace of its own. */
const FOLLOWS = /^blocked:|^run:[^:]+:no_progress$/;

/** Whether its third occurrence becomes a lesson. */
export const mayBeLesson = ({ type, key }: Kind): boolean =>
  type === 'correction' || type === 'violation' || (type === 'failure' && !FOLLOWS.test(key));

/** What the engine makes of a pattern. A guard only where the recorded calls show a rule; a lesson anyway. */
export const suggestionOf = (pattern: Kind): PatternView['suggests'] => {
  if (!mayBeLesson(pattern)) return 'nothing';
  return mayBeGuarded(pattern) ? 'guard or lesson' : 'lesson';
};

/** Where a trace happened. Trying again in one run or one session is the same case. */
export const caseOf = ({ id, runId, subjectId, source, by }: Trace): string =>
  runId ?? subjectId ?? (source === 'hook' ? by.name : id);

/** One run, task or session in which it happened. */
export interface RepeatedCase {
  trace: Trace;
  /** Files that its work changed. */
  files: readonly string[];
  /** What its run would have asked the memory; null when it had no task. */
  asked: LessonQuestion | null;
}

export interface RepeatedLesson {
  draft: LessonDraft;
  /** Tells this lesson from others of the same pattern. */
  print: string;
  cases: RepeatedCase[];
}

/** The lesson of something that happened in three cases, the newest first; null when it was not the same. No model is asked. */
export function repeatedLesson(cases: readonly RepeatedCase[], hash: (text: string) => string): RepeatedLesson | null {
  const [newest] = cases;
  if (!newest || !mayBeLesson(newest.trace)) return null;
  const printOf = ({ trace }: RepeatedCase) => fingerprintOf('said', essenceOf(trace), hash);
  const print = printOf(newest);
  const same = cases.filter((each) => printOf(each) === print);
  if (same.length < PATTERN_AT) return null;
  const filePatterns = patternsOf(same);
  for (const said of sayings(
    newest.trace,
    same.map(({ trace }) => trace.what),
  )) {
    const draft = LessonDraft.safeParse({ ...said, filePatterns });
    if (draft.success && problemOfLesson(draft.data, ENGINE) === null) return { draft: draft.data, print, cases: same };
  }
  return null;
}

/** The text that must be equal. The keys of gates and guards say it already. */
function essenceOf({ key, source, what, correct, why }: Trace): string {
  if (source === 'gate' || key.startsWith('guard:')) return key;
  return correct ?? (source === 'person' ? why : null) ?? what;
}

type Said = Pick<LessonDraft, 'kind' | 'text' | 'why'>;

/** Ways to say it. The output of a tool may contain what no lesson may say, so a plainer way follows. */
function sayings(trace: Trace, all: readonly string[]): Said[] {
  const { type, source, key, what, correct, why } = trace;
  const count = all.length;
  if (source === 'gate') {
    const gate = key.slice('gate:'.length, key.lastIndexOf(':'));
    const command = why === null || why === '' ? '' : ` Run \`${cut(why, 200)}\` before you finish.`;
    const line = sharedWords(all.map(tellingLine));
    const seen = `It failed in the same way in ${count} runs.${command}`;
    return [
      ...(line === '' ? [] : [gotcha(`Gate ${gate}: ${cut(line, 400)}`, seen)]),
      gotcha(`Gate ${gate} fails often, and in the same way.`, seen),
    ];
  }
  if (key.startsWith('guard:')) {
    const [, guard = '', tool = ''] = key.split(':');
    const reason = source === 'hook' ? (why ?? '') : what.replace(/^The guard \S+ refused \S+: /, '');
    const seen = `It was refused in ${count} ${source === 'hook' ? 'sessions' : 'runs'}.`;
    const text = `The guard ${guard} refuses ${tool}`;
    return [gotcha(`${text}: ${cut(reason, 400)}`, seen), gotcha(`${text}.`, seen)];
  }
  const text = cut(correct ?? what, 600);
  const about = correct === null ? (why ?? '') : what;
  const kind = type === 'correction' && source === 'person' ? 'preference' : 'gotcha';
  return [{ kind, text, why: cut(about, 600) }];
}

const gotcha = (text: string, why: string): Said => ({ kind: 'gotcha', text, why });

const cut = (text: string, most: number) => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line;
};

const MOST_PATTERNS = 5;

/** Files or folders that all cases have in common, as far as a lesson about them would have reached each of these runs. */
function patternsOf(cases: readonly RepeatedCase[]): string[] {
  const files = cases.map((each) => new Set([...each.files, ...each.trace.files]));
  const [first = new Set<string>(), ...others] = files;
  const inAll = (all: Set<string>[], name: string) => all.every((names) => names.has(name));
  const common = [...first].filter((file) => inAll(others, file));
  const folders = files.map((names) => new Set([...names].flatMap(foldersOf)));
  const shared = [...(folders[0] ?? [])].filter((folder) => inAll(folders, folder));
  const deepest = shared.filter((folder) => !shared.some((other) => other.startsWith(`${folder}/`)));
  for (const patterns of [common, deepest.map((folder) => `${folder}/**`)]) {
    const kept = patterns.filter((pattern) => !matchesEverything(pattern)).slice(0, MOST_PATTERNS);
    const about = { filePatterns: kept, action: null, topics: [] };
    const reaches = ({ asked }: RepeatedCase) => asked !== null && asked.files.length > 0 && fitsLesson(about, asked);
    if (kept.length > 0 && cases.every(reaches)) return kept;
  }
  return [];
}

const foldersOf = (file: string): string[] => {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
};
