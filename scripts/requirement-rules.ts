import { z } from 'zod';
import type { Finding, Rule } from './repo-rules.ts';
import { importsOf, isTest, type RepoTree, resolveImport } from './repo-tree.ts';
import { parseRequirements, REQUIREMENTS, type Requirement } from './requirements.ts';

// test/requirements.yaml maps criteria to tests. These rules keep the map correct, and its tests running.

const CRITERION = /\b(?:AC|Test)-\d+\.\d+(?:\.[a-z])?\b/;
const TITLE =
  /(?:\b(?:describe|test|it)(?:\.\w+)*(?:<[^(]*>)?|\))\s*\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`)/g;

const failure = (rule: string, path: string, text: string): Finding => ({ rule, path, text, severity: 'failure' });

/** Titles of suites and tests, as written: a table's title keeps its placeholders. */
function titlesIn(text: string): string[] {
  return [...text.matchAll(TITLE)].map(([, single, double, template]) => single ?? double ?? template ?? '');
}

/** A title says what the program does. The id of a criterion belongs in the map. */
export const testTitles: Rule = (tree) =>
  [...tree.files]
    .filter(([path]) => /\.test\.tsx?$/.test(path))
    .flatMap(([path, text]) =>
      titlesIn(text)
        .filter((title) => CRITERION.test(title))
        .map((title) =>
          failure('test title', path, `"${title}" carries a criterion id: name it in ${REQUIREMENTS} instead`),
        ),
    );

export const requirements: Rule = (tree) => {
  const text = tree.files.get(REQUIREMENTS);
  if (text === undefined) return [];
  try {
    const seen = new Set<string>();
    return parseRequirements(text).flatMap((requirement) => {
      const isSecond = seen.has(requirement.id);
      seen.add(requirement.id);
      const problems = [...(isSecond ? ['is there twice'] : []), ...problemsOf(tree, requirement)];
      return problems.map((problem) => failure('requirements', REQUIREMENTS, `${requirement.id} ${problem}`));
    });
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    return [failure('requirements', REQUIREMENTS, `cannot be read: ${problem}`)];
  }
};

function problemsOf(tree: RepoTree, { proofs, notBuilt, limit }: Requirement): string[] {
  const problems = proofs.flatMap(({ file, test }) => {
    if (!tree.files.has(file)) return [`names ${file}, which does not exist`];
    return titlesOf(tree, file).has(test) ? [] : [`names the test "${test}", which ${file} does not have`];
  });
  if (proofs.length === 0 && !notBuilt) problems.push('names no test: name one, or write "notBuilt: true"');
  if (proofs.length > 0 && notBuilt) problems.push('names a test and is not built');
  if (limit && !benchSections(tree).has(limit.bench))
    problems.push(`names the section "${limit.bench}", which ${BENCH} does not have`);
  return problems;
}

/** The titles of a test file, and of the suites that it takes from other modules of tests. */
function titlesOf(tree: RepoTree, file: string): Set<string> {
  const titles = new Set<string>();
  const seen = new Set<string>();
  const waiting = [file];
  for (let path = waiting.pop(); path; path = waiting.pop()) {
    const text = tree.files.get(path);
    if (text === undefined || seen.has(path)) continue;
    seen.add(path);
    for (const title of titlesIn(text)) titles.add(title);
    for (const specifier of importsOf(text)) {
      const target = resolveImport(path, specifier);
      if (target && isTest(target)) waiting.push(target);
    }
  }
  return titles;
}

const BENCH = 'bench/run.ts';

function benchSections(tree: RepoTree): Set<string> {
  const table = (tree.files.get(BENCH) ?? '').matchAll(/^\s*'?([\w-]+)'?: \(\) => import\(/gm);
  return new Set([...table].map(([, name]) => name as string));
}
