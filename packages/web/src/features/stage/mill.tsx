import type { CSSProperties } from 'react';
import { elapsed } from '../../time.ts';
import { stageText } from '../../words.ts';
import type { StageView } from './flow.ts';

const CREW_SHOWN = 3;

/** The first task wets the bottom, then each doubling raises the water: 1 and 10,000 both look right. */
const level = (count: number) => (count === 0 ? 0 : Math.min(1, 0.18 + Math.log2(count) * 0.12));

/** The mill as a picture: basins from left to right, a gate after each but the last. `agoMs`: how old the figures are. */
export function Mill({ stages, agoMs }: { stages: StageView[]; agoMs: number }) {
  return (
    <section aria-label="The mill, stage by stage">
      <ol className="mill">
        {stages.map((stage, index) => (
          <li key={stage.name} data-stage={stage.name}>
            <Basin stage={stage} agoMs={agoMs} />
            {index < stages.length - 1 && <Sluice isShut={stage.held.length > 0} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Basin({ stage: { name, count, workers, held }, agoMs }: { stage: StageView; agoMs: number }) {
  const more = workers.length - CREW_SHOWN;
  return (
    <div className={count === 0 ? 'basin dry' : 'basin'} style={{ '--level': level(count) } as CSSProperties}>
      <h3>{stageText(name)}</h3>
      <p className="count">{count.toLocaleString('en-US')}</p>
      <ul className="crew">
        {workers.slice(0, CREW_SHOWN).map((worker) => (
          <li key={worker.name} className={worker.role === 'reviewer' ? 'reviewing' : 'working'}>
            {worker.name} <span className="number">#{worker.task?.number}</span>{' '}
            <span className="dim">{elapsed(worker.elapsedMs + agoMs)}</span>
          </li>
        ))}
        {more > 0 && <li className="dim">and {more} more</li>}
      </ul>
      {held[0] && (
        <p className="held">
          <strong>#{held[0].number} held:</strong> {held[0].why}
          {held.length > 1 && `, and ${(held.length - 1).toLocaleString('en-US')} more`}
        </p>
      )}
    </div>
  );
}

function Sluice({ isShut }: { isShut: boolean }) {
  return (
    <div className={isShut ? 'sluice shut' : 'sluice'} role="img" aria-label={isShut ? 'gate shut' : 'gate open'} />
  );
}
