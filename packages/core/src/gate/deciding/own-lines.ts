/** Directives for one line: the line they end, or the next one. A directive for a block or a file is none of these. */
const DIRECTIVE =
  /(\/\/|\/\*|\{\/\*) ?(@ts-(ignore|expect-error)|(eslint|oxlint)-disable-(next-)?line|biome-ignore(?![-\w]))/;
/** Python has no comment for the next line. */
const TRAILING = /# ?(noqa|type: ?ignore|nosec)\b|\/\/ ?nolint\b/;
const ANY = new RegExp(`${DIRECTIVE.source}|${TRAILING.source}`, 'g');
/**
 * A skip with a condition, or inside the body of a test: it concerns the test that it is written in. A condition of Go for a
 * whole file stands in a new file only: in an old one it is no addition.
 */
const SKIP = new RegExp(
  [
    String.raw`\bpytest ?\. ?(mark ?\. ?skipif|skip|importorskip)\b(?! ?\([^\n]{0,200}allow_module_level)`,
    String.raw`@(unittest ?\. ?)?(skipIf|skipUnless)\b|\. ?skipTest ?\(`,
    String.raw`\b(test|it|describe) ?\. ?(skipIf|runIf)\b|\bthis ?\. ?skip ?\(`,
    String.raw`\b[tb] ?\. ?(Skip|SkipNow|Skipf) ?\(`,
    String.raw`^//go:build\b|^// \+build\b`,
  ].join('|'),
  'g',
);
const COMMENT = /^(\/\/|\/\*|\{\/\*|#|\*)/;
const OWN_LINE = /^(# ?(noqa|type: ?ignore|nosec)|\/\/ ?nolint|(\/\/|\/\*|\{\/\*) ?(eslint|oxlint)-disable-line)$/;

/** The only directive that a line contains, if it is for this line: where it is, its text, and what follows. */
export function directiveIn(line: string): { index: number; text: string; rest: string } | null {
  const [found, ...more] = line.matchAll(ANY);
  if (!found || more.length > 0 || !OWN_LINE.test(found[0])) return null;
  const [text] = found;
  return { index: found.index, text, rest: line.slice(found.index + text.length) };
}

const plain = (text: string) => text.replace(/\s/g, '');

/** In a file with more of them nothing is left out, so that a hostile file is examined quickly. */
const MOST = 200;

/**
 * The new text of a test file without those directives and skips that concern only lines which the old text does not have.
 * The rest of each line stays, so that nothing hides behind a directive.
 */
export function withoutOwn(old: string, now: string): string {
  const lines = now.split('\n');
  const found = lines.map((line) => DIRECTIVE.exec(line) ?? TRAILING.exec(line));
  if (found.filter((each) => each !== null).length > MOST) return now;
  const known = plain(old);
  const isNew = (code: string) => plain(code) !== '' && !known.includes(plain(code));
  let next = '';
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index]!;
    const directive = found[index];
    const code = directive ? line.slice(0, directive.index) : line;
    const isOfNext = plain(code) === '' && DIRECTIVE.test(line);
    const rest = line.replace(SKIP, ' ');
    // The blocks were compared with their `@ts-` comments: one that stands alone is in a new block, or it was found.
    const isOwn = directive && ((isOfNext && /@ts-/.test(directive[0])) || isNew(isOfNext ? next : code));
    lines[index] = isOwn ? rest.replace(ANY, ' ') : rest;
    if (plain(line) !== '' && !COMMENT.test(line.trim())) next = line;
  }
  return lines.join('\n');
}
