import { z } from 'zod';
import { plainName, plainText } from '../text/plain-text.ts';

/** Why the target's checks fail on new code that passes its own. */
export const OldCheckReason = z.enum(['expectation', 'deleted_test', 'dependency', 'other']);
export type OldCheckReason = z.infer<typeof OldCheckReason>;

/** A gate that passes on the work, and fails with the target's versions of the files that decide. */
export const OldCheckFinding = z.object({
  /** `prepare` when its steps fail there. */
  gate: z.string(),
  reason: OldCheckReason,
  /** The files that explain it, as far as that is known. */
  files: z.array(z.string()),
  /** The useful end of the output. It comes from the work, and is data. */
  output: z.string(),
});
export type OldCheckFinding = z.infer<typeof OldCheckFinding>;

/**
 * What the target's versions of the files that decide say about new code. `same`: nothing else was changed. `not_run`: they
 * could not be run, which is no verdict.
 */
export const OldChecks = z.object({
  /** The tree of the work. */
  tree: z.string(),
  /** That tree with these files put back. It never lands, so its results are kept here and not among the receipts. */
  judged: z.string(),
  result: z.enum(['passed', 'failed', 'same', 'not_run']),
  findings: z.array(OldCheckFinding).default([]),
  /** Why it could not be run. */
  why: z.string().default(''),
});
export type OldChecks = z.infer<typeof OldChecks>;

/** The result for a reviewer or a person who is shown the files above it. */
export function oldChecksText({ result, findings, why }: OldChecks, target: string): string {
  switch (result) {
    case 'passed':
      return `${target}'s own versions of these files pass on the new code.`;
    case 'same':
      return `Nothing else was changed, so there is no new code that ${target}'s own versions of these files could check.`;
    case 'not_run':
      return `${target}'s own versions of these files could not be run on the new code. That says nothing for or against the change: ${plainText(why)}`;
    case 'failed':
      return [
        `${target}'s own versions of these files fail on the new code, although the changed ones pass:`,
        ...findings.map((finding) => findingLines(finding, target)),
      ].join('\n');
  }
}

function findingLines({ gate, reason, files, output }: OldCheckFinding, target: string): string {
  const names = files.slice(0, 5).map(plainName).join(', ');
  const listed = files.length > 5 ? `${names} and ${files.length - 5} more` : names;
  const shown = plainText(output)
    .split('\n')
    .map((line) => `    ${line}`);
  return [`- ${gate}: ${REASONS[reason](listed, target)}`, ...(output === '' ? [] : shown)].join('\n');
}

const REASONS: Record<OldCheckReason, (files: string, target: string) => string> = {
  expectation: (files, target) =>
    `a changed expectation. The work changes ${files}, and the version on ${target} fails on the new code. That is right only if the task asks for the new behaviour.`,
  deleted_test: (files, target) =>
    `a deleted test. The work removes ${files}, which ${target} has and which fails on the new code. That is right only if the task takes away what it tested.`,
  dependency: (files, target) =>
    `a new dependency that ${target} lacks${files === '' ? '' : ` (${files})`}, so the old checks could not start. Look at what is added, and at the tests themselves.`,
  other: (files, target) =>
    `it fails with ${target}'s versions of ${files}. No changed or deleted test explains it: find out what these files make the gate ignore.`,
};

/** In a few words, for a log. */
export function oldChecksSummary({ result, findings, why }: OldChecks): string {
  switch (result) {
    case 'passed':
      return 'the target’s own checks pass on the new code';
    case 'same':
      return 'only files that decide what gates check were changed';
    case 'not_run':
      return `the target’s own checks could not be run on the new code: ${plainText(why).split('\n')[0]}`;
    case 'failed':
      return `the target’s own checks fail on the new code: ${findings.map(({ gate, reason }) => `${gate} (${WORDS[reason]})`).join(', ')}`;
  }
}

const WORDS: Record<OldCheckReason, string> = {
  expectation: 'a changed expectation',
  deleted_test: 'a deleted test',
  dependency: 'a new dependency',
  other: 'another reason',
};
