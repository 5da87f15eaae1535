import { describeCheats } from '../../support/hostile/cheat-suite.ts';
import { CHEATS } from '../../support/hostile/cheats.ts';

/** One of each family; the long tests have all of them. */
const FAMILIES = [
  'honest-work',
  'extended-gitignore',
  'fake-program',
  'test-rewrites-source',
  'background-session',
  'passes-the-second-time-home',
  'forged-evidence',
  'forged-approval',
  'settings-of-tidemill',
  'list-of-private-files',
];

describeCheats(
  'agents that cheat',
  CHEATS.filter(({ title }) => FAMILIES.includes(title)),
);
