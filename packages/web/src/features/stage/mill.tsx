import type { CSSProperties } from 'react';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { elapsed } from '../../time.ts';
import { stageText } from '../../words.ts';
import type { StageView } from './flow.ts';

const CREW_SHOWN = 3;

/** The first task wets the bottom, then each doubling raises the water: 1 and 10,000 both look right. */
const level = (count: number) => (count === 0 ? 0 : Math.min(1, 0.18 + Math.log2(count) * 0.12));

/** The mill as a picture: basins from left to right, a gate after each but the last. `agoMs`: how old the figures are. */
export function Mill(props: { stages: StageView[]; agoMs: number; landed: number | null }) {
  const { stages, agoMs, landed } = props;
  return (
    <section aria-labelledby="mill">
      <h2 id="mill" className="unseen">
        The mill, stage by stage
      </h2>
      <ol className="mill">
        {stages.map((stage, index) => (
          <li key={stage.name} data-stage={stage.name}>
            <Basin stage={stage} agoMs={agoMs} landed={stage.name === 'done' ? landed : null} />
            {index < stages.length - 1 && <Sluice isShut={stage.held.length > 0} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Basin(props: { stage: StageView; agoMs: number; landed: number | null }) {
  const { stage, agoMs, landed } = props;
  const { name, count, workers, held } = stage;
  const more = workers.length - CREW_SHOWN;
  return (
    <div className={count === 0 ? 'basin dry' : 'basin'} style={{ '--level': level(count) } as CSSProperties}>
      <h3>
        <PageLink to={`/board?stage=${name}`} data-item>
          {stageText(name)}
        </PageLink>
      </h3>
      <p className="count">{count.toLocaleString('en-US')}</p>
      {landed !== null && <p className="dim">{landed.toLocaleString('en-US')} landed in 24 h</p>}
      <ul className="crew">
        {workers.slice(0, CREW_SHOWN).map((worker) => (
          <li key={worker.name} className={worker.role === 'reviewer' ? 'reviewing' : 'working'}>
            {worker.name} {worker.task && <TaskLink number={worker.task.number} />}{' '}
            <span className="dim">{elapsed(worker.elapsedMs + agoMs)}</span>
          </li>
        ))}
        {more > 0 && <li className="dim">and {more} more</li>}
      </ul>
      {held[0] && (
        <p className="held">
          <strong>
            <TaskLink number={held[0].number} /> held:
          </strong>{' '}
          {held[0].why}
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
