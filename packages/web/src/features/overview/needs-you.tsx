import type { NeedsYou as Need } from '@tidemill/contract';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { plural } from '../../words.ts';
import { heldText } from '../stage/flow.ts';

const SHOWN = 5;

/** Where a person settles it. */
const placeOf = ({ holds, number }: Need) =>
  holds === 'conflict'
    ? `/conflicts/${number}`
    : holds === 'question'
      ? `/tasks/${number}?tab=talk`
      : `/tasks/${number}`;

const ACT: Partial<Record<Need['holds'], string>> = {
  question: 'Answer',
  approval: 'Decide',
  review_escalation: 'Decide',
  no_criteria: 'Decide',
  conflict: 'Resolve',
};

/** `total`: the inbox holds more than what stands still. */
export function NeedsYou({ needs, total }: { needs: Need[]; total: number }) {
  return (
    <section className={total > 0 ? 'strip urgent' : 'strip'} aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you {total > 0 && <span className="badge">{total.toLocaleString('en-US')}</span>}</h2>
      {total === 0 && <p className="dim">Nothing right now.</p>}
      <ul>
        {needs.slice(0, SHOWN).map((need) => (
          <li key={need.number}>
            <p className="title clamp">
              <TaskLink number={need.number} /> {need.title}
            </p>
            <p className="reason">
              <span className="waiting">{heldText(need)}</span>
            </p>
            <p className="clamp dim">{need.why.replace(/^[a-z_]+: /, '')}</p>
            <p>
              <PageLink to={placeOf(need)} className="act" data-item>
                {ACT[need.holds] ?? 'Look at it'} <span className="unseen">#{need.number}</span>
              </PageLink>
            </p>
          </li>
        ))}
      </ul>
      {total > Math.min(needs.length, SHOWN) && (
        <p>
          <PageLink to="/inbox">All {plural(total, 'thing')} in the inbox</PageLink>
        </p>
      )}
    </section>
  );
}
