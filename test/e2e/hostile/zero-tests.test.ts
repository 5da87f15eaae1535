import { describeZeroTests, JAVASCRIPT } from '../../support/hostile/zero-tests-suite.ts';

describeZeroTests('zero tests are not a pass', [{ ...JAVASCRIPT, none: JAVASCRIPT.none.slice(0, 1) }]);
