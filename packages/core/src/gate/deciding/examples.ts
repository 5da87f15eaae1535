const FENCE = /^\s*(`{3,}|~{3,})/;
const INDENTED = /^( {4}|\t)/;
/** `::` and directives of reStructuredText begin an indented block. */
const BEGINS = /::\s*$|^\s*\.\. /;
/** Names that an example gives a meaning. */
const DEFINES =
  /\b(?:def|class|function|func|fn|struct|import|as|const|let|var|static|macro_rules!)\s+(\w+)|(?:^|[\s;>])(\w+)\s*=(?!=)/g;

/** The code in a document: fenced blocks with their fences, indented ones that are sessions or follow `::`. */
function examplesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  const blocks: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const fence = FENCE.exec(lines[at]!)?.[1];
    const isIndented = INDENTED.test(lines[at]!) || /^\s*>>> /.test(lines[at]!);
    if (fence === undefined && !isIndented) continue;
    const end = fence === undefined ? endOfIndented(lines, at) : endOfFence(lines, at + 1, fence);
    const block = lines.slice(at, end);
    const before = lines.slice(0, at).findLast((line) => line.trim() !== '') ?? '';
    if (fence !== undefined || block.some((line) => /^\s*>>> /.test(line)) || BEGINS.test(before))
      blocks.push(block.map((line) => line.trimEnd()).join('\n'));
    at = end - 1;
  }
  return blocks;
}

function endOfFence(lines: string[], from: number, fence: string): number {
  const close = lines.findIndex((line, at) => at >= from && line.trim().startsWith(fence) && /^\W+$/.test(line.trim()));
  return close < 0 ? lines.length : close + 1;
}

function endOfIndented(lines: string[], from: number): number {
  let end = from + 1;
  for (let at = from; at < lines.length; at += 1) {
    if (INDENTED.test(lines[at]!) || /^\s*(>>>|\.\.\.)( |$)/.test(lines[at]!)) end = at + 1;
    else if (lines[at]!.trim() !== '') break;
  }
  return end;
}

/**
 * Whether a document lost or changed an example that it had, or gives another meaning to a name that its old examples use. A
 * gate that runs the examples would not notice. New examples are additions.
 */
export function changesExamples(before: string, after: string): boolean {
  const [old, now] = [examplesOf(before), examplesOf(after)];
  let at = 0;
  const added: string[] = [];
  for (const block of old) {
    const found = now.indexOf(block, at);
    if (found < 0) return true;
    added.push(...now.slice(at, found));
    at = found + 1;
  }
  const lines = new Set(old.join('\n').split('\n'));
  const used = new Set(old.join('\n').match(/\w+/g));
  const fresh = added.flatMap((block) => block.split('\n').filter((line) => !lines.has(line)));
  return fresh.some((line) => [...line.matchAll(DEFINES)].some(([, word, target]) => used.has(word ?? target ?? '')));
}
