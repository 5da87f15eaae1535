import { matchesGlob } from 'node:path';
import { FindingSeverity, MOST_FINDINGS, plainLine, type ScanFinding, type ScanResult } from '@tidemill/contract';

/** A finding, with what identifies it when it moves to another line. */
export interface KeyedFinding extends ScanFinding {
  key: string;
}

/** What a tool reported, or why its report cannot be used. */
export type ReportedFindings = { findings: KeyedFinding[] } | { unusable: string };

const ORDER = FindingSeverity.options;
export const isAtLeast = (severity: FindingSeverity, least: FindingSeverity) =>
  ORDER.indexOf(severity) >= ORDER.indexOf(least);

const LONGEST = 200;
const shortened = (text: string) => plainLine(text).slice(0, LONGEST);

/** Texts of tools and of agents are made plain and short. */
export const finding = ({ severity, id, title, file, line }: ScanFinding, key: string): KeyedFinding => ({
  severity,
  id: shortened(id),
  title: shortened(title),
  file: file === null ? null : shortened(file),
  line: line !== null && Number.isSafeInteger(line) && line > 0 ? line : null,
  key,
});

/** Without those that the person ignores: by id, or by file. */
export const counted = (findings: KeyedFinding[], ignore: string[] = []): KeyedFinding[] =>
  findings.filter(
    ({ id, file }) =>
      !ignore.some((each) => each === id || (file !== null && (file === each || matchesGlob(file, each)))),
  );

/** Those that are not known. Of two with the same key, one known one covers one. */
export function newOnes(findings: KeyedFinding[], known: readonly string[]): KeyedFinding[] {
  const left = new Map<string, number>();
  for (const key of known) left.set(key, (left.get(key) ?? 0) + 1);
  return findings.filter(({ key }) => {
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    return count === 0;
  });
}

export function resultOf(kind: ScanResult['kind'], fresh: KeyedFinding[], known: number): ScanResult {
  const counts = { low: 0, moderate: 0, high: 0, critical: 0 };
  for (const { severity } of fresh) counts[severity] += 1;
  const worst = fresh.toSorted((a, b) => ORDER.indexOf(b.severity) - ORDER.indexOf(a.severity));
  const parts = ORDER.toReversed().flatMap((severity) =>
    counts[severity] > 0 ? [`${counts[severity]} ${severity}`] : [],
  );
  const also = known > 0 ? `; ${known} that the target has, too` : '';
  return {
    kind,
    summary: `${fresh.length === 0 ? 'no new findings' : `new findings: ${parts.join(', ')}`}${also}`,
    counts,
    known,
    percent: null,
    threshold: null,
    findings: worst.slice(0, MOST_FINDINGS).map(({ key: _key, ...shown }) => shown),
    missing: [],
  };
}
