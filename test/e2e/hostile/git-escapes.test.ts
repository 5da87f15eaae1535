import { describeGitEscapes } from '../../support/hostile/git-escape-suite.ts';

/** One of each family; the long tests have all of them. */
describeGitEscapes('escapes by git, settings and text', [
  'nested-repository',
  'nested-with-attributes',
  'submodule-by-a-link',
  'gitmodules-with-a-command',
  'git-as-a-link',
  'pipe-over-a-tracked-file',
  'git-in-capitals',
  'claude-settings',
  'terminal-commands',
]);
