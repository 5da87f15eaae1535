import { type OldChecks, oldChecksText } from '@tidemill/contract';
import type { Deciding } from '@tidemill/core';
import { codeBlock, section } from './text.ts';

/** More would displace the change itself; the rest is counted. */
const MOST_FILES = 100;
const LONGEST = 300;
const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

/** What a reviewer looks at first: passing gates prove nothing about a change to what they check. */
export function checksSection({
  deciding,
  oldChecks,
  target,
}: {
  deciding: Deciding[];
  oldChecks?: OldChecks | null;
  target: string;
}): string {
  if (deciding.length === 0) return '';
  const lines = deciding.slice(0, MOST_FILES).map(({ file, why }) => `${cut(file)}: ${cut(why)}`);
  if (deciding.length > MOST_FILES) lines.push(`and ${deciding.length - MOST_FILES} more`);
  return `${section(
    'Look at this first: the change decides what the gates check',
    [codeBlock(lines.join('\n'), ''), ...(oldChecks ? ['', codeBlock(oldChecksText(oldChecks, target), '')] : [])],
    'The gates pass, but these files decide what they check, or are tests that check less than before. Read each of them in the change. Send the change back if one of them lets the gates pass for another reason than that the work is right, unless the task itself asks for it.',
  )}\n`;
}
