import type { NeedsYou as Need } from '@tidemill/contract';
import { Command } from '../../shell/command.tsx';
import { stageText } from '../../words.ts';

/** `total`: the daemon names only the first of many. */
export function NeedsYou({ needs, total }: { needs: Need[]; total: number }) {
  return (
    <section className={needs.length > 0 ? 'strip urgent' : 'strip'} aria-labelledby="needs-you">
      <h2 id="needs-you">Needs you {total > 0 && <span className="badge">{total.toLocaleString('en-US')}</span>}</h2>
      {needs.length === 0 && <p className="dim">Nothing right now.</p>}
      <ul>
        {needs.map(({ number, title, stage, why, command }) => (
          <li key={number}>
            <p className="title">
              <span className="number">#{number}</span> {title}
            </p>
            <p className="reason">
              <span className="waiting">{stageText(stage)}</span> {why.replace(/^[a-z_]+(?=:)/, stageText)}
            </p>
            {command ? <Command text={command} /> : <p className="dim">It goes on by itself once that is done.</p>}
          </li>
        ))}
      </ul>
      {total > needs.length && (
        <p className="dim">and {(total - needs.length).toLocaleString('en-US')} more, listed below</p>
      )}
    </section>
  );
}
