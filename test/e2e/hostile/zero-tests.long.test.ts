import { C, describeZeroTests, JAVASCRIPT, PYTHON, SHELL } from '../../support/hostile/zero-tests-suite.ts';

describeZeroTests('zero tests are not a pass, in each language', [JAVASCRIPT, PYTHON, SHELL, C]);
