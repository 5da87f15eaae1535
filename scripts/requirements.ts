import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

// test/requirements.yaml: the criteria that Tidemill is built from, and the tests that prove each of them.

export const REQUIREMENTS = 'test/requirements.yaml';

const Proof = z.strictObject({
  file: z.string().min(1),
  /** The title of a test or a suite in that file, as its source has it. */
  test: z.string().min(1),
});

const Requirement = z.strictObject({
  id: z.string().min(1),
  /** The part of the program, where the source has no numbers. */
  part: z.string().min(1).optional(),
  requirement: z.string().min(1),
  /** The time that the source allows, and the section of the bench that measures it. */
  limit: z.strictObject({ seconds: z.number().positive(), bench: z.string().min(1) }).optional(),
  notBuilt: z.literal(true).optional(),
  proofs: z.array(Proof).default([]),
  note: z.string().min(1).optional(),
});
export type Requirement = z.infer<typeof Requirement>;
export type Proof = z.infer<typeof Proof>;

const RequirementList = z.array(
  z.strictObject({ section: z.string().min(1), about: z.string().min(1).optional(), criteria: z.array(Requirement) }),
);

/** All criteria in the order of the file. Throws when the file is not valid. */
export function parseRequirements(text: string): Requirement[] {
  return RequirementList.parse(parse(text)).flatMap(({ criteria }) => criteria);
}

export function loadRequirements(root: string): Requirement[] {
  return parseRequirements(readFileSync(join(root, REQUIREMENTS), 'utf8'));
}

/** One test of a vitest run. */
export interface RanTest {
  file: string;
  /** The names of its suites from the outermost on, then its own name. */
  titles: string[];
  state: 'passed' | 'failed' | 'skipped';
}

/** What vitest puts a value for: `%s`, `$name` and `$#` of tables, `${…}` of template strings. */
const PLACEHOLDER = /%[sdifjoOc#$]|\$\{[^}]*\}|\$#|\$[A-Za-z_][\w.]*/g;

/** Matches the title that a run reports for a title of the source. */
export function titlePattern(title: string): RegExp {
  const literal = (text: string) =>
    text
      .replace(/\\(.)/g, '$1')
      .replaceAll('%%', '%')
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${title.split(PLACEHOLDER).map(literal).join('.*')}$`, 's');
}

/**
 * A sentence for each criterion that a run should have proven and did not. Only the proofs in files of the run count, so
 * that each tier and each filtered run answers for itself. A failed test is no finding here: the run reports it.
 */
export function unproven(requirements: Requirement[], tests: RanTest[]): string[] {
  const byFile = Map.groupBy(tests, ({ file }) => file);
  return requirements.flatMap(({ id, proofs }) => {
    const here = proofs.filter(({ file }) => byFile.has(file));
    if (here.length === 0) return [];
    const found = here.flatMap(({ file, test }) => {
      const pattern = titlePattern(test);
      return (byFile.get(file) ?? []).filter(({ titles }) => titles.some((title) => pattern.test(title)));
    });
    if (found.some(({ state }) => state !== 'skipped')) return [];
    const reason = found.length > 0 ? 'every test that it names was skipped' : 'no test has a title that it names';
    return [`${id} has no proof in this run: ${reason}`];
  });
}
