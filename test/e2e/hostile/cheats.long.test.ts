import { describeCheats } from '../../support/hostile/cheat-suite.ts';
import { CHEATS } from '../../support/hostile/cheats.ts';

describeCheats('agents that cheat, each in its way', CHEATS);
