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
];

const tree = loadTree(process.argv[2] ?? join(import.meta.dirname, '..'));
const findings = RULES.flatMap((rule) => rule(tree));
const of = (severity: Finding['severity']) => findings.filter((finding) => finding.severity === severity);

for (const { rule, path, text } of of('failure')) console.log(`${path}: ${text} [${rule}]`);
for (const { path, text } of of('warning')) console.log(`warning: ${path}: ${text}`);
console.log(`${tree.files.size} files, ${of('failure').length} broken rules, ${of('warning').length} warnings`);
process.exitCode = of('failure').length > 0 ? 1 : 0;
