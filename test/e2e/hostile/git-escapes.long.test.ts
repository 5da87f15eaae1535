import { describeGitEscapes } from '../../support/hostile/git-escape-suite.ts';

describeGitEscapes('every known escape by git, settings and text');
