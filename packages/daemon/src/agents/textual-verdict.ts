interface Criterion {
  id: string;
  text: string;
}
interface Judged {
  id: string;
  met: boolean;
  evidence: string;
  text?: string;
}
type Verdict = { object: Record<string, unknown> } | { invalid: string };

const VERDICT_LINE = /REVIEW_VERDICT\W{1,8}(APPROVED|CHANGES_REQUESTED)\b(?!\W{1,4}(?:APPROVED|CHANGES_REQUESTED)\b)/gi;
const STATUS_LINE = /^[^\w\n]*status[^\w\n]*:[^\w\n]*(approved|rejected)[^\w\n]*$/gim;
const CHECKBOX = /^\s*[-*+]\s*\[([ xX])\]\s*(.+)$/;
const NUMBERED = /^\s{0,3}\d{1,3}[.)]\s+(.+)$/;
const BULLET = /^\s{0,3}[-*+]\s+(.+)$/;
const QUALITY =
  /^[^\w\n]*(tests|linting|security|documentation)[^\w\n]*:[^\w\n]*fail\b[\s:,(-]*(?:details:\s*)?(.*?)\)?\s*$/gim;
/** These block an approval in every case. */
const BLOCKING = /^(tests|linting|security)$/i;
const FEEDBACK_HEADING = /^[^\w\n]*feedback\b[^\n]*$/im;

/**
 * A verdict in the older text form: a line `REVIEW_VERDICT: …` with numbered comments, or a `**Status:**` with a
 * checklist of the criteria. Null for neither, and for two verdicts.
 */
export function readTextualVerdict(text: string, criteria: readonly Criterion[]): Verdict | null {
  const verdicts = [
    ...[...text.matchAll(VERDICT_LINE)].map(([, word = '']) => word.toUpperCase() === 'APPROVED'),
    ...[...text.matchAll(STATUS_LINE)].map(([, word = '']) => word.toUpperCase() === 'APPROVED'),
  ];
  if (verdicts.length === 0) return null;
  if (new Set(verdicts).size > 1) return { invalid: 'The review says both that it approves and that it does not.' };
  const failures = failedQuality(text);
  const isApproved = verdicts[0] === true && !failures.some(({ isBlocking }) => isBlocking);
  const comments = isApproved ? [] : [...commentsIn(text), ...failures.map(({ comment }) => comment)];
  return {
    object: {
      outcome: isApproved ? 'approved' : 'changes_requested',
      summary: summaryOf(isApproved, comments),
      review: { criteria: judgedIn(text, criteria), comments },
    },
  };
}

function summaryOf(isApproved: boolean, comments: string[]): string {
  if (isApproved) return 'The reviewer approves.';
  return comments[0] ?? 'The reviewer asks for changes.';
}

/**
 * Only lines that name their criterion count: by id, by number, or by its text. Without criteria, each line of the
 * checklist is one that the reviewer derived.
 */
function judgedIn(text: string, criteria: readonly Criterion[]): Judged[] {
  return text.split('\n').flatMap((line, index) => {
    const [, box = ' ', said = ''] = CHECKBOX.exec(line) ?? [];
    if (said === '') return [];
    const met = box !== ' ' && !/\bnot met\b|\bunmet\b/i.test(said);
    const evidence = evidenceIn(said);
    if (criteria.length === 0)
      return [{ id: `line ${index + 1}`, met, evidence, text: said.replace(EVIDENCE, '').trim() }];
    const criterion = criterionOf(said, criteria);
    return criterion ? [{ id: criterion.id, met, evidence }] : [];
  });
}

function criterionOf(said: string, criteria: readonly Criterion[]): Criterion | undefined {
  const plain = said.replace(/[*_`]/g, '').trim();
  const number = /^criterion\s+#?(\d+)\b/i.exec(plain)?.[1];
  return (
    criteria.find(({ id }) => new RegExp(`^(?:criterion\\s+)?${RegExp.escape(id)}(?![\\w-])`, 'i').test(plain)) ??
    (number === undefined ? undefined : criteria[Number(number) - 1]) ??
    criteria.find(({ text }) => text !== '' && plain.toLowerCase().startsWith(text.toLowerCase()))
  );
}

const EVIDENCE = /\((?:evidence|reason)\s*:\s*(.*)\)\s*$/i;
const evidenceIn = (said: string) => (EVIDENCE.exec(said)?.[1] ?? '').trim();

function failedQuality(text: string): { comment: string; isBlocking: boolean }[] {
  return [...text.matchAll(QUALITY)].map(([, what = '', details = '']) => ({
    comment: `${what}: ${details.trim() || 'failed'}`,
    isBlocking: BLOCKING.test(what),
  }));
}

/** Numbered points wherever they stand; without any, the points or the text below a heading "Feedback". */
function commentsIn(text: string): string[] {
  const numbered = points(text, NUMBERED);
  if (numbered.length > 0) return numbered;
  const heading = FEEDBACK_HEADING.exec(text);
  if (!heading) return [];
  const feedback = text.slice(heading.index + heading[0].length).trim();
  const listed = points(feedback, BULLET);
  return listed.length > 0 || feedback === '' ? listed : [feedback];
}

/** The points of a list; lines indented below a point belong to it. */
function points(text: string, start: RegExp): string[] {
  const found: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const point = CHECKBOX.test(line) ? null : start.exec(line)?.[1];
    if (point) found.push(point.trim());
    else if (isOpen && /^\s{2,}\S/.test(line)) found[found.length - 1] += `\n${line.trim()}`;
    isOpen = Boolean(point) || (isOpen && /^\s{2,}\S/.test(line));
  }
  return found;
}
