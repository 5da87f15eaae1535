import './mill.css';
import type { ProjectStatus } from '@tidemill/contract';
import { type CSSProperties, memo, type ReactNode } from 'react';
import { PageLink, TaskLink } from '../../shell/page-link.tsx';
import { elapsed } from '../../time.ts';
import { plural, stageText } from '../../words.ts';
import { State, Status } from '../delivery/status.tsx';
import type { StageView } from './flow.ts';
import { levelOf, Water } from './water.tsx';
import { Wheel } from './wheel.tsx';

const CREW_SHOWN = 3;
/** With more stages, empty ones are left out. */
const MOST_STAGES = 10;
/** `10,000` still fits in the large font. */
const LONGEST = 6;

const isUsed = ({ name, count, workers }: StageView) =>
  count > 0 || workers.length > 0 || name === 'open' || name === 'done';

interface MillProps {
  stages: StageView[];
  sources: ProjectStatus['sources'];
  environments: ProjectStatus['environments'];
  /** How old the figures are. */
  agoMs: number;
  landed: number | null;
  isTurning: boolean;
}

/** The stages as a picture: basins from left to right, a gate between them, and a wheel at the end. */
export function Mill({ stages: all, sources, environments, agoMs, landed, isTurning }: MillProps) {
  const stages = all.length > MOST_STAGES ? all.filter(isUsed) : all;
  const omitted = all.length - stages.length;
  const levels = stages.map(({ count }) => levelOf(count));
  const shut = stages.map(({ held }) => held.length > 0);
  return (
    <section className="mill" aria-labelledby="mill">
      <h2 id="mill" className="unseen">
        Tasks by stage
      </h2>
      <div className="mill-all" style={{ '--stages': stages.length } as CSSProperties}>
        <StillWater levels={levels.join()} shut={shut.join()} />
        <ol>
          {stages.map((stage, index) => (
            <li key={stage.name} data-stage={stage.name}>
              <Basin stage={stage} level={levels[index]!} agoMs={agoMs}>
                {stage.name === 'open' && <Inlets sources={sources} />}
                {stage.name === 'done' && (
                  <>
                    {landed !== null && <p className="dim">{landed.toLocaleString('en-US')} landed in 24 h</p>}
                    <Outlets environments={environments} />
                    <Wheel isTurning={isTurning} />
                  </>
                )}
              </Basin>
              {index < stages.length - 1 && <Sluice isShut={shut[index]!} />}
            </li>
          ))}
        </ol>
      </div>
      {omitted > 0 && <p className="mill-note dim">{plural(omitted, 'empty stage')} not shown.</p>}
    </section>
  );
}

/** Where tasks come from: what is under way there, and the way to add one. */
function Inlets({ sources: { ideas, specs, feedback, proposals, issues } }: Pick<MillProps, 'sources'>) {
  const under: [count: number, to: string, name: string, many?: string][] = [
    [ideas, '/ideas', 'idea'],
    [specs, '/specs', 'specification'],
    [feedback, '/feedback', 'feedback', 'feedback'],
    [proposals, '/loop', 'proposal'],
    [issues, '/inbox', 'waiting issue'],
  ];
  return (
    <ul className="inlet">
      {under.map(
        ([count, to, name, many]) =>
          count > 0 && (
            <li key={to}>
              <PageLink to={to}>{plural(count, name, many)}</PageLink>
            </li>
          ),
      )}
      <li>
        <PageLink to="/board?new=1">Add a task</PageLink>
      </li>
    </ul>
  );
}

const OUTLETS_SHOWN = 3;

/** Where landed work goes, and what is there. */
function Outlets({ environments }: Pick<MillProps, 'environments'>) {
  if (environments.length === 0) return null;
  const more = environments.length - OUTLETS_SHOWN;
  return (
    <ul className="outlet" aria-label="Environments">
      {environments.slice(0, OUTLETS_SHOWN).map(({ name, state, delivery }) => (
        <li key={name}>
          <PageLink to="/delivery">{name}</PageLink> {delivery ? <Status status={delivery} /> : <State state={state} />}
        </li>
      ))}
      {more > 0 && <li className="dim">and {more} more</li>}
    </ul>
  );
}

/** Memoised, because the status arrives several times a second and rarely changes the levels. */
const StillWater = memo(function StillWater({ levels, shut }: { levels: string; shut: string }) {
  return <Water levels={levels.split(',').map(Number)} shut={shut.split(',').map((isShut) => isShut === 'true')} />;
});

function Basin(props: { stage: StageView; level: number; agoMs: number; children: ReactNode }) {
  const { stage, level, agoMs, children } = props;
  const { name, count, workers, held, isHeldCut } = stage;
  const more = workers.length - CREW_SHOWN;
  const figure = count.toLocaleString('en-US');
  return (
    <div className={count === 0 ? 'basin dry' : 'basin'} style={{ '--level': level } as CSSProperties}>
      <h3>
        <PageLink to={`/board?stage=${name}`} data-item>
          {stageText(name)}
        </PageLink>
      </h3>
      <p className={figure.length > LONGEST ? 'count long' : 'count'}>{figure}</p>
      {children}
      <ul className="crew">
        {workers.slice(0, CREW_SHOWN).map((worker) => (
          <li key={worker.name}>
            <span className={worker.status}>{worker.name}</span>{' '}
            {worker.task && <TaskLink number={worker.task.number} />}{' '}
            <span className="dim">{elapsed(worker.elapsedMs + agoMs)}</span>
          </li>
        ))}
        {more > 0 && <li className="dim">and {more} more</li>}
      </ul>
      {held[0] && (
        <p className="held">
          <strong>{held[0].number === null ? figure : <TaskLink number={held[0].number} />} waiting:</strong>{' '}
          {held[0].why}
          {held.length > 1 && `, and ${held.length - 1} ${isHeldCut ? 'or more others' : 'more'}`}
        </p>
      )}
    </div>
  );
}

function Sluice({ isShut }: { isShut: boolean }) {
  return (
    <div className={isShut ? 'sluice shut' : 'sluice'} role="img" aria-label={isShut ? 'gate closed' : 'gate open'} />
  );
}
