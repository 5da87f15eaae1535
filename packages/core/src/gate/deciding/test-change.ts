import type { BlockFinding } from './blocks/addition.ts';
import { compareInlineTests, compareSources } from './blocks/compare.ts';
import { sourceOf, type TestSource } from './blocks/items.ts';
import { languageOf } from './blocks/language.ts';
import { reachOf } from './blocks/reach.ts';
import { shown } from './shown.ts';

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
    // Not "Example:", which begins a part of many docstrings.
    String.raw`^\s*(Scenario|Scenario Outline)s?:`,
  ].join('|'),
);
const COMMENT = /^\s*(\/\/|#(?![[!])|\*|\/\*.*\*\/\s*$|--\s)/;
const ASSERTION =
  /\b(expect|assert\w*|should|t\.(is|true|deepEqual|equal|ok|throws|Error\w*|Fatal\w*)|require\.\w+|verify|refute\w*|must_\w+|XCTAssert\w*|EXPECT_\w+|ASSERT_\w+)\b\s*[(!.\s]|\bassert\b|^\s*Then\s/;

const isTestCase = (line: string) => TEST_CASE.test(line);
export const holdsTests = (text: string) => linesOf(text).some(isTestCase);
export const casesIn = (text: string): number => tally(text, isTestCase);

/** What was done to an existing test, in words; nothing when tests were only added. */
export function testChangeWhys(path: string, before: string, after: string): string[] {
  if (before === after) return [];
  const language = languageOf(path);
  const lost = missing(linesOf(before), linesOf(after));
  if (!language) return shrinkWhys(lost, before, after);
  const [old, now] = [sourceOf(before, language), sourceOf(after, language)];
  if (!old || !now)
    return [
      'its brackets, quotes or indentation do not fit, so it was not examined',
      ...shrinkWhys(lost, before, after),
    ];
  const finding = compareSources(old, now);
  if (!finding) return [];
  return finding.kind === 'changed' && lost.length > 0
    ? shrinkWhys(lost, before, after)
    : [inWords(finding, { text: before, source: old }, { text: after, source: now })];
}

/** What a new test file does to the tests of other files, where one process runs all of them. */
export function newTestWhys(path: string, text: string): string[] {
  const language = languageOf(path);
  const source = language && /\.(py|go)$/i.test(path) ? sourceOf(text, language) : null;
  const reach = source ? reachOf(source, path) : null;
  if (!source || reach === null) return [];
  const line = text.split(/\r\n?|\n|\u2028|\u2029/)[source.tokens[reach]!.line - 1] ?? '';
  return [`may change what other tests check: ${quoted(line)}`];
}

interface Version {
  text: string;
  source: TestSource;
}

function inWords(finding: BlockFinding, old: Version, now: Version): string {
  const lineOf = ({ text, source }: Version, token: number) =>
    text.split(/\r\n?|\n|\u2028|\u2029/)[(source.tokens[token]?.line ?? 0) - 1] ?? '';
  const line = finding.now === undefined ? lineOf(old, (finding as { old: number }).old) : lineOf(now, finding.now);
  return `${WHYS[finding.kind]}: ${quoted(line)}`;
}

const WHYS: Record<BlockFinding['kind'], string> = {
  changed: 'an existing test gets new lines',
  lines: 'an existing test gets new lines',
  around: 'new code runs before or around existing tests',
  hides: 'a new name hides one that existing tests use',
  replaces: 'a new block replaces an existing one of the same name',
  effect: 'a new block changes what other tests use',
};

/** For files that contain tests and other code: only the tests are examined. */
export function inlineTestWhys(path: string, before: string, after: string): string[] {
  const lost = missing(linesOf(before), linesOf(after)).filter((line) => ASSERTION.test(line) || isTestCase(line));
  if (lost.length > 0) return shrinkWhys(lost, before, after);
  const language = languageOf(path);
  const [old, now] = language ? [sourceOf(before, language), sourceOf(after, language)] : [null, null];
  const finding = old && now ? compareInlineTests(old, now) : null;
  return finding && old && now ? [inWords(finding, { text: before, source: old }, { text: after, source: now })] : [];
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

const MOST_QUOTED = 100;

function quoted(line: string): string {
  const text = shown(line.trim());
  return `\`${text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text}\``;
}
