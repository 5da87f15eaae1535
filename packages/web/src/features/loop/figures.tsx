import type { LoopView } from '@tidemill/contract';
import { elapsed } from '../../time.ts';
import { limit, money, percent } from '../../words.ts';

const of = (value: number | null, words: (value: number) => string) => (value === null ? 'no data' : words(value));

/** How the loop does, over 30 days where nothing else is said. */
export function Figures({ view: { figures, exposure, approval } }: { view: LoopView }) {
  const { coverage, cycleTimeMs, completeness, stalls, spentDayUsd, budgetUsdPerDay, spentMonthUsd, costPerTaskUsd } =
    figures;
  const shown: [name: string, text: string][] = [
    ['Categories used', percent(coverage)],
    ['Proposal to landing', of(cycleTimeMs, elapsed)],
    ['Landed within a day', of(completeness, percent)],
    ['Stalls so far', String(stalls)],
    [
      'Cost today',
      budgetUsdPerDay === null ? money(spentDayUsd) : `${money(spentDayUsd)} of ${limit(budgetUsdPerDay)}`,
    ],
    ['Cost in 30 days', money(spentMonthUsd)],
    ['Cost per landed task', of(costPerTaskUsd, money)],
    ['Exposure', `stage ${exposure.stage}, ${exposure.agents} at once`],
    ['Approval', approval === 'requires_approval' ? 'by you' : 'automatic'],
  ];
  return (
    <section aria-label="Figures of the last 30 days" className="card">
      <dl className="loop-figures">
        {shown.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
