import { decidesAnything } from '../../../test/support/decide-suite.ts';

decidesAnything(35);
