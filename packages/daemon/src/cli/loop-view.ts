import type { CategoryView, LoopView, ProposalView } from '@tidemill/contract';
import { elapsed, fit, oneLine, type Terminal, table } from './terminal.ts';

const percent = (share: number | null) => (share === null ? 'no data' : `${Math.round(share * 100)} %`);
const usd = (amount: number | null) => (amount === null ? 'no data' : `$${amount.toFixed(2)}`);

export function loopLines(view: LoopView, terminal: Terminal): string[] {
  const { isOn, text, queue, exposure, approval, proposing, figures, categories, waiting } = view;
  const inUse = categories.filter(({ state }) => state === 'ready' || state === 'resting');
  const ready = inUse.filter(({ state }) => state === 'ready').length;
  const spent = figures.budgetUsdPerDay === null ? '' : ` of ${usd(figures.budgetUsdPerDay)}`;
  const rows = [
    ['queue', `${queue.depth} waiting, kept between ${queue.min} and ${queue.max}`],
    [
      'now',
      proposing === null ? 'no agent looks for an improvement' : `an agent looks for an improvement in ${proposing}`,
    ],
    ['categories', `${ready} of ${inUse.length} ready, ${percent(figures.coverage)} used within 30 days`],
    ['exposure', `stage ${exposure.stage}: ${exposure.agents} at work at once, ${exposure.categories} categories`],
    [
      'approval',
      approval === 'requires_approval' ? 'you approve each proposal' : 'proposals become tasks by themselves',
    ],
    ['cycle', figures.cycleTimeMs === null ? 'no data' : `${elapsed(figures.cycleTimeMs)} from proposal to landing`],
    [
      'completed',
      figures.completeness === null
        ? 'no data'
        : `${percent(figures.completeness)} of accepted proposals landed within a day`,
    ],
    ['cost', `${usd(figures.spentDayUsd)}${spent} today, ${usd(figures.costPerTaskUsd)} per landed task`],
    ['stalls', String(figures.stalls)],
  ];
  const head = `The loop is ${oneLine(text)}.`;
  return [
    terminal.paint(isOn ? 'green' : view.paused ? 'red' : 'dim', head),
    ...table(rows, terminal.width),
    ...(waiting.length === 0 ? [] : ['', 'Waiting for your yes:']),
    ...waiting.flatMap((each) => proposalLines(each, terminal)),
  ];
}

export const switchLines = ({ isOn }: LoopView, _terminal: Terminal, hasDaemon: boolean): string[] => [
  `The loop is ${isOn ? 'on' : 'off'}.`,
  ...(isOn && !hasDaemon ? ['It works while the daemon runs: tidemill up'] : []),
];

export const proposalsLines = (found: ProposalView[], terminal: Terminal): string[] =>
  found.length === 0 ? ['There are no proposals.'] : found.flatMap((each) => proposalLines(each, terminal));

function proposalLines(proposal: ProposalView, { width, paint }: Terminal): string[] {
  const { number, category, status, outcome, draft, why, related, task, score } = proposal;
  const end = status === 'accepted' && task ? `#${task.number}, ${outcome ?? task.stage}` : status;
  const more = [
    ...(score === null ? [] : [`score ${score}`]),
    ...related.map(({ ref, likeness }) => `like ${ref} (${Math.round(likeness * 100)} %)`),
  ];
  return [
    fit(`${number === 0 ? '…' : number}  ${oneLine(draft.title)}`, width),
    paint(
      'dim',
      fit(`   ${category}, ${draft.effortHours} h, ${end}${more.length > 0 ? `, ${more.join(', ')}` : ''}`, width),
    ),
    ...(why === '' ? [] : [paint('dim', fit(`   ${oneLine(why)}`, width))]),
    ...(status === 'waiting' ? [paint('dim', fit(`   tidemill loop approve ${number}`, width))] : []),
  ];
}

export function categoryLines(categories: CategoryView[], { width }: Terminal): string[] {
  const rows = categories.map((each) => [
    each.slug,
    each.state,
    each.lastUsedAt === null ? 'never' : `${elapsed(Math.max(0, Date.now() - each.lastUsedAt))} ago`,
    `${each.proposed}/${each.approved}/${each.landed}/${each.reverted}`,
    each.tasksPerWeek.toFixed(1),
    each.score === null ? '-' : each.score.toFixed(1),
    oneLine(each.why),
  ]);
  return table(
    [['category', 'state', 'used', 'proposed/approved/landed/reverted', 'a week', 'score', ''], ...rows],
    width,
  );
}
