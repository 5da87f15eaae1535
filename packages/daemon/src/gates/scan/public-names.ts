/** A name that other code can use. */
interface PublicName {
  name: string;
  line: number;
  isDocumented: boolean;
}

type Reader = (lines: string[]) => PublicName[];

const SCRIPT =
  /^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|type|enum|namespace|const|let|var)\s+([\w$]+)/;
const script: Reader = (lines) =>
  found(lines, SCRIPT, (index) => {
    const above = lineAbove(lines, index, (line) => line.startsWith('@'));
    return above.endsWith('*/');
  });

/** The lines below may hold the rest of the signature. */
const PYTHON = /^(?:async\s+)?(?:def|class)\s+([A-Za-z]\w*)/;
const python: Reader = (lines) =>
  found(lines, PYTHON, (index) => {
    let at = index;
    while (at < lines.length && !/:\s*(?:#.*)?$/.test(lines[at]!)) at += 1;
    return /^\s*[rRuUbBfF]{0,2}(?:"""|''')/.test(lines[at + 1] ?? '');
  });

const GO = /^(?:func\s+(?:\([^)]*\)\s*)?|type\s+|var\s+|const\s+)([A-Z]\w*)/;
const go: Reader = (lines) => found(lines, GO, (index) => /^\/\/|\*\/$/.test(lineAbove(lines, index, () => false)));

const RUST =
  /^\s*pub\s+(?:(?:async|unsafe|const|extern(?:\s+"[^"]*")?)\s+)*(?:fn|struct|enum|trait|type|mod|static|const|union)\s+(\w+)/;
const rust: Reader = (lines) =>
  found(lines, RUST, (index) =>
    /^\s*(?:\/\/\/|#\[doc)|\*\/$/.test(lineAbove(lines, index, (line) => /^\s*#\[(?!doc)/.test(line))),
  );

const READERS: [pattern: RegExp, reader: Reader][] = [
  [/\.(?:[cm]?[jt]s|[jt]sx)$/, script],
  [/\.py$/, python],
  [/\.go$/, go],
  [/\.rs$/, rust],
];
const TESTS =
  /(?:^|\/)(?:tests?|__tests__|spec|fixtures?|examples?)\/|[._](?:test|spec)\.[^/]+$|(?:^|\/)test_[^/]+\.py$|\.d\.[cm]?ts$/;

/** The public names of a file; null for a file whose language is not read, or that is a test. */
export function publicNames(file: string, text: string): PublicName[] | null {
  if (TESTS.test(file)) return null;
  const reader = READERS.find(([pattern]) => pattern.test(file))?.[1];
  return reader ? reader(text.split(/\r?\n/)) : null;
}

function found(lines: string[], pattern: RegExp, isDocumented: (index: number) => boolean): PublicName[] {
  const names = new Map<string, PublicName>();
  for (const [index, line] of lines.entries()) {
    const name = pattern.exec(line)?.[1];
    if (name === undefined) continue;
    // Overloads are one name, documented by any of them.
    const documented = isDocumented(index) || names.get(name)?.isDocumented === true;
    names.set(name, { name, line: names.get(name)?.line ?? index + 1, isDocumented: documented });
  }
  return [...names.values()];
}

/** The nearest line above that says something; decorators and attributes are passed over. */
function lineAbove(lines: string[], index: number, isPassedOver: (line: string) => boolean): string {
  let at = index - 1;
  while (at >= 0 && isPassedOver(lines[at]!)) at -= 1;
  return (lines[at] ?? '').trim();
}
