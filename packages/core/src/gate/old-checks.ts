import type { OldCheckFinding, OldChecks, Task } from '@tidemill/contract';
import { checkFence } from '../check-fence.ts';
import type { CommandOf, Decision } from '../command.ts';
import { accept } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import type { ChangedFile, Deciding } from './deciding/changed-file.ts';
import { LOCK_FILES } from './deciding/deciding.ts';
import { isManifest } from './deciding/manifest.ts';
import { isOfTests, nameOf } from './deciding/names.ts';
import { holdsTests } from './deciding/test-change.ts';

type Hash = (text: string) => string;

/** How a failing preparation is called among the gates. */
const PREPARE = 'prepare';
/** A task keeps this many results: each round of review adds one, and each landing that is tried. */
const MOST_KEPT = 6;
const LONGEST_OUTPUT = 2_000;

/** Programs say this when something that they import is not installed. A path of the project itself is not meant. */
const NOT_INSTALLED = [
  /Cannot find (?:module|package) ['"](?![./])/,
  /(?:ModuleNotFoundError|ImportError): No module named/,
  /no required module provides package|cannot find module providing package|missing go\.sum entry/,
  /unresolved import|can't find crate|no matching package named|use of undeclared crate or module/,
  /cannot load such file -- (?![./])|Could not find (?:gem|'[^']+' \()/,
  /Class "[^"]+" not found|error TS2307: Cannot find module '(?![./])/,
];

/** Why each of these gates fails with the target's versions of the files. */
export function oldCheckFindings(
  failed: readonly { gate: string; output: string }[],
  putBack: readonly ChangedFile[],
): OldCheckFinding[] {
  return failed.flatMap(({ gate, output }) =>
    reasonsOf(gate, output, putBack).map((found) => ({ gate, ...found, output: output.slice(0, LONGEST_OUTPUT) })),
  );
}

type Reason = Pick<OldCheckFinding, 'reason' | 'files'>;

function reasonsOf(gate: string, output: string, putBack: readonly ChangedFile[]): Reason[] {
  const namesOf = (files: readonly ChangedFile[]) => files.map(({ path }) => path);
  const other: Reason = { reason: 'other', files: namesOf(putBack) };
  const installs = putBack.filter(({ path }) => isManifest(path) || LOCK_FILES.has(nameOf(path)));
  const isMissing = gate === PREPARE || NOT_INSTALLED.some((pattern) => pattern.test(output));
  if (installs.length > 0 && isMissing) return [{ reason: 'dependency', files: namesOf(installs) }];
  if (gate === PREPARE) return [other];
  const tests = putBack.filter(({ path, before }) => before && (isOfTests(path) || holdsTests(before.text ?? '')));
  const [deleted, changed] = [tests.filter(({ after }) => !after), tests.filter(({ after }) => after)];
  const told = tests.filter(({ path }) => isMentioned(output, path));
  // Without a name in the output, tests explain it only where nothing else was put back.
  const meant = told.length > 0 ? told : tests.length === putBack.length ? tests : [];
  const reasons: Reason[] = [
    { reason: 'deleted_test', files: namesOf(deleted.filter((file) => meant.includes(file))) },
    { reason: 'expectation', files: namesOf(changed.filter((file) => meant.includes(file))) },
  ];
  const found = reasons.filter(({ files }) => files.length > 0);
  return found.length > 0 ? found : [other];
}

/** Whether the output names the file: by its path, its name, or its name without the ending, as Python does. */
function isMentioned(output: string, path: string): boolean {
  const name = nameOf(path);
  const stem = name.replace(/\.[^.]*$/, '');
  const words = new Set(
    output.split(/[^\w.-]+/).flatMap((word) => [word, word.replace(/\.$/, ''), ...word.split('.')]),
  );
  return words.has(name) || (stem.length > 3 && words.has(stem));
}

/** The results of a task, with one more. */
export function withJudged(known: readonly OldChecks[], added: OldChecks): OldChecks[] {
  const isSame = ({ tree, judged }: OldChecks) => tree === added.tree && judged === added.judged;
  return [...known.filter((each) => !isSame(each)), added].slice(-MOST_KEPT);
}

/** The newest result for exactly this tree. */
export const judgedFor = ({ oldChecks }: Pick<Task, 'oldChecks'>, tree: string): OldChecks | null =>
  oldChecks.findLast((each) => each.tree === tree) ?? null;

/**
 * What an approval of changed checks is for: the files' content, and what was found with the target's versions of them. One
 * that was given before anything was found does not cover a finding.
 */
export function checksApproval(files: readonly Deciding[], oldChecks: OldChecks | undefined, hash: Hash): string {
  const found = (oldChecks?.findings ?? []).map(({ gate, reason }) => hash(`${gate}\0${reason}`).slice(0, 12));
  return [hash(files.map(({ content }) => content).join('\0')), ...[...new Set(found)].sort()].join(':');
}

export function isChecksApproved({ approvedChecks }: Pick<Task, 'approvedChecks'>, wanted: string): boolean {
  const [content, ...found] = wanted.split(':');
  return approvedChecks.some((approval) => {
    const [approved, ...covered] = approval.split(':');
    return approved === content && found.every((each) => covered.includes(each));
  });
}

/** Whether a person approved this content although the target's checks fail on it. */
export const isAcceptedFailure = (
  task: Pick<Task, 'approvedChecks'>,
  files: readonly Deciding[],
  hash: Hash,
): boolean => task.approvedChecks.some((approval) => approval.startsWith(`${checksApproval(files, undefined, hash)}:`));

export function judgeWork(slice: Slice, command: CommandOf<'work.judge'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  return accept({ type: 'work.judged', taskId: command.subjectId, oldChecks: command.oldChecks });
}
