import { posix } from 'node:path';
import type { Finding, Rule } from './repo-rules.ts';
import { bareCode, isTest } from './repo-tree.ts';
import { TEST_PLACES, TIERS } from './tiers.ts';

// A test that does not run says why. Only the context of a test takes a reason, which `npm test` prints.

const NO_REASON = /\b(?:describe|suite|test|it)\b(?:\s*\.\s*\w+)*?\s*\.\s*(skipIf|runIf|skip|todo|only)\b/g;
const OPTION = /\b(skip|todo|only)\s*:\s*true\b/g;
const CALL = /(?<![\w.])(?:(\w+)\s*\.\s*)?skip\s*\(/g;
const TEST_FUNCTION = /^(?:describe|suite|test|it)$/;
const CURE = "use context.skip(condition, 'reason')";

export const skippedTests: Rule = (tree) =>
  [...tree.files]
    .filter(([path]) => isTest(path) && /\.tsx?$/.test(path))
    .flatMap(([path, text]) =>
      problemsOf(text).map(({ line, problem }): Finding => {
        return { rule: 'skipped test', path: `${path}:${line}`, text: `${problem}: ${CURE}`, severity: 'failure' };
      }),
    );

const LOOKS_LIKE_TESTS = /\.(?:test|spec)\.[cm]?[jt]sx?$/;
/** Projects that tests work on have tests of their own. */
const OF_SAMPLE = /(?:^|\/)(?:fixtures?|sample)\//;
const PLACES = Object.values(TEST_PLACES).flatMap((paths) => paths.map((path) => `${path}${TIERS.quick.ending}`));

/** A file of tests that no tier runs proves nothing, and nobody sees it. */
export const lostTests: Rule = (tree) =>
  [...tree.files.keys()]
    .filter((path) => LOOKS_LIKE_TESTS.test(path) && !OF_SAMPLE.test(path))
    .filter((path) => !PLACES.some((place) => posix.matchesGlob(path, place)))
    .map((path): Finding => {
      const text = `no command runs it: end its name with ${TIERS.quick.ending}, and put it beside the code, or into test/contract, test/e2e, test/sim or scripts`;
      return { rule: 'lost test', path, text, severity: 'failure' };
    });

function problemsOf(text: string): { line: number; problem: string }[] {
  // Both have the length of the text, so that an index means the same place in each.
  const code = bareCode(text, { strings: false });
  const withStrings = bareCode(text, { strings: true });
  const problems = [...code.matchAll(NO_REASON), ...code.matchAll(OPTION)].map((match) => ({
    index: match.index,
    problem: `"${match[1]}" takes no reason`,
  }));
  for (const match of code.matchAll(CALL)) {
    if (TEST_FUNCTION.test(match[1] ?? '')) continue;
    if (!hasReason(argumentsAt(code, withStrings, match.index + match[0].length)))
      problems.push({ index: match.index, problem: 'a skip has no reason' });
  }
  return problems.map(({ index, problem }) => ({ line: code.slice(0, index).split('\n').length, problem }));
}

/** The second argument, or the only one if it is text: a variable may be a condition. */
function hasReason([first = '', second = '']: string[]): boolean {
  const reason = second || (/^['"`]/.test(first) ? first : '');
  return !/^(?:['"`]\s*['"`])?$/.test(reason);
}

/** The arguments of a call whose first one begins at `start`. Strings count for what they say, not for their brackets. */
function argumentsAt(code: string, withStrings: string, start: number): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = start;
  for (let at = start; at < code.length; at += 1) {
    const sign = code[at] as string;
    if ('([{'.includes(sign)) depth += 1;
    const isEnd = depth === 0 && ')]}'.includes(sign);
    if (isEnd || (depth === 0 && sign === ',')) {
      found.push(withStrings.slice(from, at).trim());
      from = at + 1;
    }
    if (isEnd) break;
    if (')]}'.includes(sign)) depth -= 1;
  }
  return found;
}
