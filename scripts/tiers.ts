/** Which command runs a test file is the ending of its name. */
export type Tier = 'quick' | 'long' | 'soak';

const LONG = '.long.test.ts';
const SOAK = '.soak.test.ts';

interface TierFiles {
  ending: string;
  /** Endings of other tiers that this one's ending also matches. */
  others: string[];
}

export const TIERS: Record<Tier, TierFiles> = {
  quick: { ending: '.test.ts', others: [LONG, SOAK] },
  long: { ending: LONG, others: [] },
  soak: { ending: SOAK, others: [] },
};

export function tierNamed(name: string): Tier {
  if (name in TIERS) return name as Tier;
  throw new Error(`there is no tier "${name}": use ${Object.keys(TIERS).join(', ')}`);
}

/** vitest's options that choose the tier's files. */
export const projectsOf = (tier: Tier): string[] => [`--project=${tier}`, `--project=${tier}-alone`];

/** The folders whose files with a tier's ending are run: beside others in a process, or in one of their own. */
export const TEST_PLACES = {
  together: ['packages/*/src/**/*', 'test/{contract,e2e,sim}/**/*'],
  /** These change the environment of their process, or look at all that it has started. */
  alone: [
    'packages/daemon/src/{process,hooks}/**/*',
    'test/contract/{agent,guard}*',
    'test/e2e/hostile/sandbox-escapes',
    'scripts/*',
  ],
};
