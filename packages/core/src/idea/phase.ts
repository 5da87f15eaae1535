import type { Idea, IdeaPhase } from '@tidemill/contract';

/** What the phase of an idea depends on. */
export type Signals = Pick<Idea, 'artifacts' | 'decisions' | 'risks' | 'confidence'>;

/** An idea is complete above this confidence. */
export const SURE_ENOUGH = 0.75;

const has = ({ artifacts }: Signals, ...types: string[]) =>
  types.every((wanted) => artifacts.some(({ type }) => type === wanted));

function averageConfidence({ artifacts }: Signals): number {
  return artifacts.length === 0 ? 0 : artifacts.reduce((sum, { confidence }) => sum + confidence, 0) / artifacts.length;
}

/**
 *   EXPLORING ──target user, problem, solution concept──▶ NARROWING
 *   NARROWING ──first features, differentiator, average confidence above 0.6──▶ VALIDATING
 *   VALIDATING ──three validations, a risk──▶ REFINING
 *   REFINING ──confidence above 0.75, or a brief──▶ COMPLETE
 */
const RULES: Record<IdeaPhase, { next: IdeaPhase; isDone(signals: Signals): boolean } | null> = {
  EXPLORING: { next: 'NARROWING', isDone: (signals) => has(signals, 'target-user', 'problem', 'solution-concept') },
  NARROWING: {
    next: 'VALIDATING',
    isDone: (signals) => has(signals, 'mvp-features', 'differentiator') && averageConfidence(signals) > 0.6,
  },
  VALIDATING: {
    next: 'REFINING',
    isDone: ({ decisions, risks }) =>
      decisions.filter(({ type }) => type === 'validation').length >= 3 && risks.length > 0,
  },
  REFINING: { next: 'COMPLETE', isDone: (signals) => signals.confidence > SURE_ENOUGH || has(signals, 'brief') },
  COMPLETE: null,
};

/** The next phase, or null while this one is not done. One step at a time: it is evaluated after every reply. */
export function phaseAfter(phase: IdeaPhase, signals: Signals): IdeaPhase | null {
  const rule = RULES[phase];
  return rule?.isDone(signals) ? rule.next : null;
}
