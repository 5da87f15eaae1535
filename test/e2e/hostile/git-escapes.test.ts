import { describeGitEscapes } from '../../support/hostile/git-escape-suite.ts';

/** One of each family; the long tests have all of them. */
describeGitEscapes('escapes by git, settings and text', [
  'nested-repository',
  'gitmodules-with-a-command',
  'pipe-over-a-tracked-file',
  'git-in-capitals',
  'claude-settings',
  'terminal-commands',
]);
