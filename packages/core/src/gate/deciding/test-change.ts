import { shown } from './shown.ts';

/**
 * What a change does to an existing test. New tests may be added between the old ones; every old line must stay, in its
 * order. An addition must be a whole test, an import or a declaration of a new name: anything else could end, hide or
 * replace the code around it.
 */

const IMPORT =
  /^\s*(import\b|from\s+\S+\s+import\b|(const|let|var)\s+.*=\s*require\(|use\s+|using\s+|require(_relative)?\s*[('"]|#include\b|extern crate\b)/;
const TEST_CASE = new RegExp(
  [
    String.raw`^\s*(export\s+)?(await\s+)?(test|it|describe|suite|context|specify|bench|scenario|Deno\.test|t\.test|t\.run|s\.Run)(\.(each|concurrent|sequential|for|describe|serial|parallel|configure)\b.*)?\s*[(\x60'"]`,
    String.raw`^\s*(test|it|describe|context|specify|scenario|feature)\s+['"].*\bdo\b`,
    String.raw`^\s*(async\s+)?def\s+test`,
    String.raw`^\s*class\s+(\w*Test\w*)`,
    String.raw`^func\s+(Test|Benchmark|Fuzz|Example)\w*\s*\(`,
    String.raw`^\s*#\[([\w:]+::)?(test|rstest|case)`,
    String.raw`^\s*(async\s+|pub\s+)*fn\s+\w+\s*\(\s*\)`,
    String.raw`^\s*@(Test|ParameterizedTest|ValueSource|CsvSource|BeforeEach|DisplayName|pytest\.mark\.(parametrize|asyncio)|pytest\.fixture|given|test)\b`,
    String.raw`^\s*(public\s+)?(void|fun|function)\s+\w*[tT]est\w*`,
    String.raw`^\s*(Scenario|Scenario Outline|Example)s?:`,
  ].join('|'),
);
const DECLARATION =
  /^\s*(export\s+)?(?:pub\s+)?(?:async\s+)?(?:const|let|var|function\*?|class|interface|type|enum|def|fn|func|struct|trait|static|final|val)\s+([A-Za-z_$][\w$]*)/;
const COMMENT = /^\s*(\/\/|#(?![[!])|\*|\/\*.*\*\/\s*$|--\s)/;
const CLOSER = /^[\s)}\];,]*$|^\s*end\s*$/;
const ASSERTION =
  /\b(expect|assert\w*|should|t\.(is|true|deepEqual|equal|ok|throws|Error\w*|Fatal\w*)|require\.\w+|verify|refute\w*|must_\w+|XCTAssert\w*|EXPECT_\w+|ASSERT_\w+)\b\s*[(!.\s]|\bassert\b|^\s*Then\s/;
const LISTED_NAME = /^\s*(type\s+)?[\w$]+(\s+as\s+[\w$]+)?\s*,\s*$/;

const isTestCase = (line: string) => TEST_CASE.test(line);
export const holdsTests = (text: string) => linesOf(text).some(isTestCase);

interface Hunk {
  added: string[];
  /** The old line before and after it, if any. */
  previous: string | undefined;
  next: string | undefined;
}

/** What was done to an existing test, in words; nothing when tests were only added. */
export function testChangeWhys(path: string, before: string, after: string): string[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const lost = missing(old, now);
  const hunks = insertions(old, now);
  if (!hunks) return shrinkWhys(lost, before, after);
  const isByIndent = /\.(py|rb|exs?|feature|nim)$/i.test(path);
  const known = new Set(before.match(/[\w$]+/g));
  const odd = hunks.flatMap((hunk) => oddLine(hunk, known, isByIndent) ?? []);
  return odd.length > 0 ? [`an existing test gets new lines: ${quoted(odd[0]!)}`] : [];
}

/** For files that contain tests and other code: only the tests are examined. */
export function inlineTestWhys(before: string, after: string): string[] {
  const lost = missing(linesOf(before), linesOf(after)).filter((line) => ASSERTION.test(line) || isTestCase(line));
  return lost.length > 0 ? shrinkWhys(lost, before, after) : [];
}

function shrinkWhys(lost: string[], before: string, after: string): string[] {
  const assertions = lost.filter((line) => ASSERTION.test(line));
  const cases = tally(before, isTestCase) - tally(after, isTestCase);
  const whys: string[] = [];
  if (cases > 0) whys.push(`${cases} ${cases === 1 ? 'test is' : 'tests are'} removed`);
  if (assertions.length > 0) {
    const what = assertions.length === 1 ? '1 assertion is' : `${assertions.length} assertions are`;
    whys.push(`${what} removed or changed: ${quoted(assertions[0]!)}`);
  }
  if (whys.length === 0) whys.push(`an existing test is changed${lost[0] ? `: ${quoted(lost[0])}` : ''}`);
  return whys;
}

/** Lines with content, with single spaces after their indentation, so that the patterns are fast on long lines. */
const linesOf = (text: string) =>
  text
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !COMMENT.test(line))
    .map((line) => {
      const rest = line.trimStart();
      return line.slice(0, line.length - rest.length) + rest.replace(/\s+/g, ' ');
    });

const tally = (text: string, is: (line: string) => boolean) => linesOf(text).filter(is).length;

/** Lines of the old text that the new one has fewer times. */
function missing(old: string[], now: string[]): string[] {
  const left = new Map<string, number>();
  for (const line of now) left.set(line.trim(), (left.get(line.trim()) ?? 0) + 1);
  return old.filter((line) => {
    const key = line.trim();
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}

/** What was added between the old lines; null when an old line is missing or out of order. */
function insertions(old: string[], now: string[]): Hunk[] | null {
  const hunks: Hunk[] = [];
  let at = 0;
  let previous: string | undefined;
  for (const line of old) {
    const isImport = IMPORT.test(line);
    let found = at;
    while (found < now.length && now[found] !== line && !(isImport && isWiderImport(line, now[found]!))) found += 1;
    if (found === now.length) return null;
    if (found > at) hunks.push({ added: now.slice(at, found), previous, next: line });
    at = found + 1;
    previous = line;
  }
  if (at < now.length) hunks.push({ added: now.slice(at), previous, next: undefined });
  return hunks;
}

/** An import of the same module with more names. */
function isWiderImport(old: string, now: string): boolean {
  if (!IMPORT.test(now)) return false;
  const strings = (line: string) => (line.match(/'[^']*'|"[^"]*"/g) ?? []).join();
  const module = (line: string) => /^\s*from\s+(\S+)\s+import/.exec(line)?.[1];
  if (strings(old) !== strings(now) || module(old) !== module(now) || /;.*\S/.test(now)) return false;
  const words = new Set(now.match(/[\w$]+/g));
  return (old.match(/[\w$]+/g) ?? []).every((word) => words.has(word));
}

/** The first added line that is not a new test, import or declaration. */
function oddLine({ added, previous, next }: Hunk, known: ReadonlySet<string>, isByIndent: boolean): string | null {
  if (added.every((line) => LISTED_NAME.test(line)) && previous && isInList(previous)) return null;
  const whole = added.join('\n');
  const isOpenEnded =
    whole.lastIndexOf('/*') > whole.lastIndexOf('*/') ||
    isOdd(whole, /`/g) ||
    isOdd(whole, /"""|'''/g) ||
    /^(=begin|__END__)/m.test(whole);
  if (isOpenEnded) return added[0]!;
  return isByIndent ? oddByIndent(added, known, next) : oddByBrackets(added, known);
}

const isInList = (line: string) => LISTED_NAME.test(line) || /^\s*(import|from|use|export)\b.*[({]\s*$/.test(line);
const isOdd = (text: string, mark: RegExp) => [...text.matchAll(mark)].length % 2 === 1;

function oddByIndent(body: string[], known: ReadonlySet<string>, next: string | undefined): string | null {
  const indent = (line: string) => line.length - line.trimStart().length;
  const outer = indent(body[0]!);
  // The next old line would become part of the addition.
  if (next !== undefined && indent(next) > outer) return body[0]!;
  return body.find((line) => indent(line) <= outer && !mayStandBeside(line, known)) ?? null;
}

function oddByBrackets(body: string[], known: ReadonlySet<string>): string | null {
  let depth = 0;
  for (const line of body) {
    if (depth === 0 && !mayStandBeside(line, known)) return line;
    const bare = line.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\/.*$/g, '');
    for (const sign of bare) {
      if ('([{'.includes(sign)) depth += 1;
      if (')]}'.includes(sign)) depth -= 1;
      if (depth < 0) return line;
    }
  }
  return depth === 0 ? null : body[0]!;
}

function mayStandBeside(line: string, known: ReadonlySet<string>): boolean {
  if (isTestCase(line) || CLOSER.test(line)) return true;
  // An import without names runs code of the module.
  if (IMPORT.test(line)) return !/^\s*import\s*['"(]/.test(line) && !/;.*\S/.test(line);
  const name = DECLARATION.exec(line)?.[2];
  return name !== undefined && !known.has(name);
}

const MOST_QUOTED = 100;

function quoted(line: string): string {
  const text = shown(line.trim());
  return `\`${text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text}\``;
}
