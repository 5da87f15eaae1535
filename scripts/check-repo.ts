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

if (import.meta.main) {
  const { ok, lines } = checkRepo(process.argv[2] ?? join(import.meta.dirname, '..'));
  for (const line of lines) console.log(line);
  process.exitCode = ok ? 0 : 1;
}
