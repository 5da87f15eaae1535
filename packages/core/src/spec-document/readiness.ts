import type { SpecDraft, SpecFinding, SpecTask } from '@tidemill/contract';

/** A task below this score is not approved without a person's override. */
const READY_SCORE = 70;
const MOST_FILES = 3;
const MOST_MINUTES = 60;
const MOST_DEPENDENCIES = 2;

interface ReadinessRule {
  name: string;
  /** Part of the score, in percent. */
  weight: number;
  isMet(task: SpecTask): boolean;
  /** What to change. */
  advice: string;
}

const SEVERAL = /\b(?:and|plus|then|as well as)\b|[;&+]/i;
/** Words that say that something is good without saying how one would see it. */
const VAGUE =
  /\b(?:appropriate(?:ly)?|properly|correctly|etc|fast|good|nice|robust|user-friendly|as needed|as expected|works?(?: well)?)\b[.!]?$/i;
const SHORTEST_CRITERION = 8;

const READINESS_RULES: readonly ReadinessRule[] = [
  {
    name: 'single concern',
    weight: 15,
    isMet: ({ title }) => !SEVERAL.test(title),
    advice: 'its title joins several concerns: split it',
  },
  {
    name: 'few files',
    weight: 15,
    isMet: ({ files }) => files.length > 0 && files.length <= MOST_FILES,
    advice: `it must name 1 to ${MOST_FILES} files`,
  },
  {
    name: 'short',
    weight: 10,
    isMet: ({ estimateMinutes }) => estimateMinutes !== null && estimateMinutes <= MOST_MINUTES,
    advice: `it needs an estimate of at most ${MOST_MINUTES} minutes`,
  },
  {
    name: 'testable',
    weight: 25,
    isMet: ({ validate }) => validate.trim() !== '',
    advice: 'it needs a command that shows that it is done',
  },
  {
    name: 'independent',
    weight: 10,
    isMet: ({ dependsOn }) => dependsOn.length <= MOST_DEPENDENCIES,
    advice: `it waits for more than ${MOST_DEPENDENCIES} tasks`,
  },
  {
    name: 'clear completion',
    weight: 25,
    isMet: ({ accept }) =>
      accept.length > 0 && accept.every((text) => text.length >= SHORTEST_CRITERION && !VAGUE.test(text)),
    advice: 'it needs acceptance criteria that can be observed',
  },
];

export interface Readiness {
  /** 0 to 100. */
  score: number;
  /** The rules that it does not meet, with what to change. */
  missing: { name: string; weight: number; advice: string }[];
  isReady: boolean;
}

/** What a critic's finding takes from the score. A serious one makes a task not ready by itself. */
const FINDING_WEIGHT = { serious: 35, minor: 5 } as const;

/** What the critic found about a task, or about the whole specification. */
const findingsAbout = ({ id }: SpecTask, findings: readonly SpecFinding[]) =>
  findings
    .filter(({ task }) => task === '' || task === id)
    .map(({ severity, text }) => ({ name: 'critic', weight: FINDING_WEIGHT[severity], advice: `the critic: ${text}` }));

export function readinessOf(task: SpecTask, findings: readonly SpecFinding[] = []): Readiness {
  const missing = [...READINESS_RULES.filter((rule) => !rule.isMet(task)), ...findingsAbout(task, findings)];
  const score = Math.max(
    0,
    missing.reduce((left, { weight }) => left - weight, 100),
  );
  return {
    score,
    missing: missing.map(({ name, weight, advice }) => ({ name, weight, advice })),
    isReady: score >= READY_SCORE,
  };
}

/** Tasks that block an approval. */
export const notReady = (
  { tasks }: Pick<SpecDraft, 'tasks'>,
  findings: readonly SpecFinding[] = [],
): { task: SpecTask; readiness: Readiness }[] =>
  tasks.map((task) => ({ task, readiness: readinessOf(task, findings) })).filter(({ readiness }) => !readiness.isReady);
