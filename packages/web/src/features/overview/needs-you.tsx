import { alsoText, causesOf, HELD_REASONS, heldReason, type NeedsYou as Need } from '@tidemill/contract';
import { plainLine } from '../../plain.ts';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { plural, withTimes } from '../../words.ts';

const SHOWN = 4;

/** The page where a person can deal with it. */
const placeOf = ({ holds, number }: Need) =>
  holds === 'conflict'
    ? `/conflicts/${number}`
    : holds === 'question'
      ? `/tasks/${number}?tab=conversation`
      : `/tasks/${number}`;

const ACT: Partial<Record<Need['holds'], string>> = {
  question: 'Answer',
  approval: 'Decide',
  review_escalation: 'Decide',
  no_criteria: 'Decide',
  conflict: 'Resolve',
};

/** Details beyond the text above, without its words. */
const moreOf = ({ holds, why }: Need) =>
  holds === 'approval' ? '' : withTimes(why.replace(`${HELD_REASONS[holds]}: `, ''));

/** `inbox` counts everything in the inbox, not only blocked tasks. */
export function NeedsYou({ needs: all, inbox }: { needs: Need[]; inbox: number }) {
  const needs = causesOf(all);
  const total = Math.max(inbox, needs.length);
  return (
    <section className={total > 0 ? 'strip urgent' : 'strip'} aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you {total > 0 && <span className="badge">{total.toLocaleString('en-US')}</span>}</h2>
      {total === 0 && <p className="dim">You're all caught up.</p>}
      <ul>
        {needs.slice(0, SHOWN).map((need) => (
          <li key={need.number} className="need">
            <p className="title clamp">
              <TaskLink number={need.number} /> {plainLine(need.title)}
            </p>
            <p className="waiting">
              {heldReason(need)}
              {alsoText(need.also)}
            </p>
            {moreOf(need) && <p className="clamp dim">{plainLine(moreOf(need))}</p>}
            <PageLink to={placeOf(need)} className="act" data-item>
              {ACT[need.holds] ?? 'Open'} <span className="unseen">#{need.number}</span>
            </PageLink>
          </li>
        ))}
      </ul>
      {total > 0 && (
        <p>
          <PageLink to="/inbox">
            {total > Math.min(needs.length, SHOWN) ? `All ${plural(total, 'item')} in the inbox` : 'Open the inbox'}
          </PageLink>
        </p>
      )}
    </section>
  );
}
