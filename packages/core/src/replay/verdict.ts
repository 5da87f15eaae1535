import type { LessonProof, PromptTrial, Replay } from '@tidemill/contract';
import { signTest } from './figures.ts';

/** With fewer tasks even a lesson that helps on all of them may be chance. */
export const LEAST_HELD_OUT = 5;
const SURE = 0.05;
/** A lesson that doubles the cost does not pay. */
const MOST_COST = 2;

/** What a paired replay showed about a lesson. Deterministic gates decided each run. */
export interface LessonTrial {
  verdict: 'gain' | 'harm' | 'unclear';
  why: string;
  proof: LessonProof;
}

/** The variants of a lesson's replay are: without it, with it, and with a placebo. Null before it has figures. */
export function trialOf({ id, report, spentUsd }: Pick<Replay, 'id' | 'report' | 'spentUsd'>): LessonTrial | null {
  const [tried, placebo] = report?.pairs ?? [];
  if (!tried?.gain || !placebo?.gain) return null;
  const { gain, pairs, better, worse, p, pWorse, passedMore, passedLess, costRatio } = tried;
  const proof: LessonProof = {
    replayId: id,
    pairs,
    gain: gain.value,
    low: gain.low,
    high: gain.high,
    placeboGain: placebo.gain.value,
    costUsd: spentUsd,
  };
  const figures = `better on ${better} and worse on ${worse} of ${pairs} tasks`;
  const say = (verdict: LessonTrial['verdict'], why: string): LessonTrial => ({ verdict, why, proof });
  if (pWorse <= SURE) return say('harm', `${figures} (p = ${pWorse.toFixed(3)})`);
  if (signTest(passedLess, passedMore) <= SURE)
    return say('harm', `with it ${passedLess} tasks failed that pass without it, and ${passedMore} the other way`);
  if (pairs < LEAST_HELD_OUT) return say('unclear', `${pairs} tasks are too few, ${LEAST_HELD_OUT} are needed`);
  if (p > SURE || gain.low <= 0) return say('unclear', `${figures}, which may be chance (p = ${p.toFixed(2)})`);
  if (placebo.p <= SURE || placebo.gain.value >= gain.value)
    return say('unclear', `a lesson without content did as well (${percent(placebo.gain.value)} points)`);
  if (passedLess > passedMore) return say('unclear', `${figures} at the first try, but fewer passed in the end`);
  if (costRatio !== null && costRatio > MOST_COST)
    return say('unclear', `${figures}, but at ${costRatio.toFixed(1)} times the cost`);
  return say('gain', `${figures} (p = ${p.toFixed(3)}), the placebo gained ${percent(placebo.gain.value)} points`);
}

/** The variants of a prompt's replay are: the one in use, and the new one. */
export function promptTrialOf({ report }: Pick<Replay, 'report'>): PromptTrial {
  const [tried] = report?.pairs ?? [];
  if (!tried?.gain) return { verdict: 'unclear', why: 'its runs did not count' };
  const { gain, pairs, better, worse, p, pWorse, passedMore, passedLess } = tried;
  const figures = `better on ${better} and worse on ${worse} of ${pairs} tasks`;
  if (pWorse <= SURE || signTest(passedLess, passedMore) <= SURE) return { verdict: 'harm', why: figures };
  const isSure = pairs >= LEAST_HELD_OUT && p <= SURE && gain.low > 0 && passedLess <= passedMore;
  return { verdict: isSure ? 'gain' : 'unclear', why: `${figures} (p = ${p.toFixed(3)})` };
}

const percent = (share: number) => Math.round(share * 100);
