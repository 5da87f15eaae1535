import {
  type ItemContent,
  MAX_ITEM_BODY,
  MAX_ITEM_TITLE,
  plainLine,
  plainText,
  type TaskKind,
} from '@tidemill/contract';

const KINDS: [RegExp, TaskKind][] = [
  [/^(?:(?:kind|type)[:/ ]\s*)?(?:bug|defect|regression|crash)$/i, 'bug'],
  [/^(?:(?:kind|type)[:/ ]\s*)?(?:chore|maintenance|dependencies|documentation|docs|ci|build|task)$/i, 'chore'],
  [/^(?:(?:kind|type)[:/ ]\s*)?(?:improvement|refactor(?:ing)?|performance|tech[- ]debt|cleanup)$/i, 'improvement'],
  [/^(?:(?:kind|type)[:/ ]\s*)?(?:feature|enhancement|feature request)$/i, 'feature'],
];

/** The kind that the labels say, the first that fits; a feature without one. */
export function kindOfLabels(labels: readonly string[]): TaskKind {
  for (const [pattern, kind] of KINDS) if (labels.some((label) => pattern.test(label.trim()))) return kind;
  return 'feature';
}

const WORDS: Record<string, number> = {
  blocker: 0,
  critical: 0,
  urgent: 0,
  highest: 0,
  high: 1,
  important: 1,
  medium: 2,
  normal: 2,
  moderate: 2,
  low: 3,
  minor: 3,
  lowest: 4,
  trivial: 4,
};

/** A priority from a label or a field: `P1`, `1`, `priority:1`, `priority/high`, `High`. Null when it says none. */
export function priorityOf(text: string, isField = false): number | null {
  const said = /^(?:prio(?:rity)?\s*[:/ -]\s*)?(?:p\s*)?(\S.*)$/i.exec(text.trim());
  const rest = said?.[1]?.toLowerCase().replace(/[^a-z0-9]/g, '') ?? '';
  const isNamed = isField || /^(?:prio(?:rity)?\s*[:/ -]|p\s*\d$)/i.test(text.trim());
  if (!isNamed) return /^(?:critical|urgent|blocker)$/i.test(text.trim()) ? 0 : null;
  if (/^[0-4]$/.test(rest)) return Number(rest);
  return Object.hasOwn(WORDS, rest) ? WORDS[rest]! : null;
}

const NORMAL = 2;

/** The most urgent that a field or a label says. */
export function priorityOfItem(labels: readonly string[], field: string | null): number {
  const ofField = field === null ? null : priorityOf(field, true);
  if (ofField !== null) return ofField;
  const said = labels.map((label) => priorityOf(label)).filter((each) => each !== null);
  return said.length > 0 ? Math.min(...said) : NORMAL;
}

/**
 * A text of somebody else, as a task may hold it: plain, without what a reader of the tracker does not see (HTML comments
 * outside of code), and of a bounded length.
 */
export function itemBody(text: string): string {
  // Cut first, so that the work does not grow with a hostile length.
  const isLong = text.length > MAX_ITEM_BODY * 2;
  const seen = withoutComments(plainText(isLong ? text.slice(0, MAX_ITEM_BODY * 2) : text)).trim();
  if (!isLong && seen.length <= MAX_ITEM_BODY) return seen;
  return `${seen.slice(0, MAX_ITEM_BODY).toWellFormed()}\n\n(The text is longer. The rest was left out.)`;
}

export function itemTitle(text: string): string {
  const title = plainLine(text.slice(0, MAX_ITEM_TITLE * 4));
  if (title === '') return '(no title)';
  return [...title].length <= MAX_ITEM_TITLE ? title : `${[...title].slice(0, MAX_ITEM_TITLE - 1).join('')}…`;
}

/** An unclosed comment hides everything after it. */
function withoutComments(text: string): string {
  const kept: string[] = [];
  let fence: string | null = null;
  let isHidden = false;
  for (const line of text.split('\n')) {
    let rest = line;
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (!isHidden && mark && (fence === null || (mark.startsWith(fence) && line.trim() === mark)))
      fence = fence === null ? mark : null;
    if (fence !== null) {
      kept.push(line);
      continue;
    }
    let shown = '';
    let wasHidden = isHidden;
    while (rest !== '') {
      const at = rest.indexOf(isHidden ? '-->' : '<!--');
      if (!isHidden) shown += at < 0 ? rest : rest.slice(0, at);
      if (at < 0) break;
      rest = rest.slice(at + (isHidden ? 3 : 4));
      isHidden = !isHidden;
      wasHidden = true;
    }
    if (!wasHidden || shown.trim() !== '') kept.push(shown);
  }
  return kept.join('\n');
}

/** What decides whether the text of an item has changed for its task. */
export const contentText = ({ title, body, kind, priority }: ItemContent): string =>
  JSON.stringify([title, body, kind, priority]);
