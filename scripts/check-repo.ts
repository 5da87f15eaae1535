import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { coreFolders, importRules, pageFrame } from './import-rules.ts';
import {
  agentGuide,
  brokenImports,
  determinism,
  duplicateTypes,
  type Finding,
  fileNames,
  fileSizes,
  markdown,
  type Rule,
  unpluggedModules,
} from './repo-rules.ts';
import { loadTree } from './repo-tree.ts';
import { requirements, testTitles } from './requirement-rules.ts';
import { lostTests, skippedTests } from './skip-rules.ts';

// The rules of docs/architecture.md that a machine can check: `node scripts/check-repo.ts [FOLDER]`.

const RULES: Rule[] = [
  importRules,
  coreFolders,
  pageFrame,
  brokenImports,
  unpluggedModules,
  determinism,
  duplicateTypes,
  fileSizes,
  fileNames,
  markdown,
  agentGuide,
  testTitles,
  requirements,
  skippedTests,
  lostTests,
];

/** What is broken in a tree, a line each, then the sums. */
export function checkRepo(folder: string): { ok: boolean; lines: string[] } {
  const tree = loadTree(folder);
  const findings = RULES.flatMap((rule) => rule(tree));
  const of = (severity: Finding['severity']) => findings.filter((finding) => finding.severity === severity);
  const [failures, warnings] = [of('failure'), of('warning')];
  const lines = [
    ...failures.map(({ rule, path, text }) => `${path}: ${text} [${rule}]`),
    ...warnings.map(({ path, text }) => `warning: ${path}: ${text}`),
    `${tree.files.size} files, ${failures.length} broken rules, ${warnings.length} warnings`,
  ];
  return { ok: failures.length === 0, lines };
}

/** Older commits stay as they are. */
const SUBJECTS_SINCE = '2026-11-20T00:00:00Z';
const LONGEST_SUBJECT = 72;

/** New commits whose subject is too long for a list of commits. */
export function longSubjects(folder: string): string[] {
  if (!existsSync(join(folder, '.git'))) return [];
  const format = ['--no-merges', `--since=${SUBJECTS_SINCE}`, '--format=%h %s'];
  const log = execFileSync('git', ['-C', folder, 'log', ...format], { encoding: 'utf8', maxBuffer: 1 << 26 });
  return log.split('\n').filter((line) => line.replace(/^\w+ /, '').length > LONGEST_SUBJECT);
}

if (import.meta.main) {
  const folder = process.argv[2] ?? join(import.meta.dirname, '..');
  const { ok, lines } = checkRepo(folder);
  const tooLong = longSubjects(folder);
  for (const line of tooLong)
    console.log(`${line}: a subject has at most ${LONGEST_SUBJECT} characters [commit subjects]`);
  for (const line of lines) console.log(line);
  process.exitCode = ok && tooLong.length === 0 ? 0 : 1;
}
