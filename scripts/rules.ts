import { coreFolders, importRules, pageFrame } from './import-rules.ts';
import {
  agentGuide,
  brokenImports,
  determinism,
  duplicateTypes,
  fileNames,
  fileSizes,
  markdown,
  type Rule,
  unpluggedModules,
} from './repo-rules.ts';
import { requirements, testTitles } from './requirement-rules.ts';
import { skippedTests } from './skip-rules.ts';

/** The rules of docs/architecture.md that a machine can check. */
export const RULES: Rule[] = [
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
];
