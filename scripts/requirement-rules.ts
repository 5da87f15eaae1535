import type { Finding, Rule } from './repo-rules.ts';
import type { RepoTree } from './repo-tree.ts';

// docs/requirements.md maps the criteria of an external document to tests. These rules keep the map correct.

const MAP = 'docs/requirements.md';
const CRITERION = /\b(?:AC|Test)-\d+\.\d+(?:\.[a-z])?\b/;
const TITLE =
  /(?:\b(?:describe|test|it)(?:\.\w+)*(?:<[^(]*>)?|\))\s*\(\s*(?:'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\.|[^`\\])*)`)/g;
/** A named test in the map: `file` "title". */
const NAMED = /`([^`]+\.test\.tsx?)`(?: "([^"]+)")?/g;

const failure = (rule: string, path: string, text: string): Finding => ({ rule, path, text, severity: 'failure' });

/** Titles of suites and tests, as written: a table's title keeps its placeholders. */
function titlesOf(text: string): string[] {
  return [...text.matchAll(TITLE)].map(([, single, double, template]) => single ?? double ?? template ?? '');
}

/** A title says what the program does. The id of a criterion belongs in the map. */
export const testTitles: Rule = (tree) =>
  [...tree.files]
    .filter(([path]) => /\.test\.tsx?$/.test(path))
    .flatMap(([path, text]) =>
      titlesOf(text)
        .filter((title) => CRITERION.test(title))
        .map((title) => failure('test title', path, `"${title}" carries a criterion id: name it in ${MAP} instead`)),
    );

export const requirements: Rule = (tree) => {
  const seen = new Set<string>();
  return (tree.files.get(MAP) ?? '').split('\n').flatMap((line, index) => {
    const place = `${MAP}:${index + 1}`;
    const named = [...line.matchAll(NAMED)];
    const findings = named.flatMap(([, file = '', title]) => {
      const problem = problemOf(tree, file, title);
      return problem ? [failure('requirements', place, problem)] : [];
    });
    const id = /^\| *(AC-[\w.]+) *\|/.exec(line)?.[1];
    if (!id) return findings;
    if (seen.has(id)) findings.push(failure('requirements', place, `${id} has two rows`));
    seen.add(id);
    if (named.length === 0 && !line.includes('Not built yet'))
      findings.push(failure('requirements', place, `${id} names no test: name one, or write "Not built yet"`));
    return findings;
  });
};

function problemOf(tree: RepoTree, file: string, title: string | undefined): string | null {
  const text = tree.files.get(file);
  if (text === undefined) return `names ${file}, which does not exist`;
  if (title === undefined) return `names ${file} without the title of a test`;
  return titlesOf(text).includes(title) ? null : `${file} has no test "${title}"`;
}
