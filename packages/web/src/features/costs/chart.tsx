import { useId } from 'react';
import { useWidth } from '../../graph/width.ts';
import { type Scale, stepText, tickText } from './axis.ts';
import type { Series } from './series.ts';
import { ValueTable } from './value-table.tsx';

export interface ChartProps {
  title: string;
  /** The main figure as text. */
  about: string;
  /** The start of each step. */
  steps: number[];
  stepMs: number;
  series: Series[];
  scale: Scale;
  /** Stacked bars for amounts; otherwise lines. */
  isBars?: boolean;
}

const HEIGHT = 168;
const LEFT = 56;
const BOTTOM = 20;
const TOP = 10;
/** The width of a label under the chart. */
const TICK = 72;

/** Plain SVG, because a few rectangles need no library. A table has the same values for screen readers. */
export function Chart(props: ChartProps) {
  const { title, about, series } = props;
  const id = useId();
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  return (
    <figure className="chart card" aria-labelledby={id}>
      <figcaption id={id}>
        <h3>{title}</h3>
        <span className="dim">{about}</span>
      </figcaption>
      {isEmpty ? (
        <p className="dim nothing">No data in this period.</p>
      ) : (
        <>
          <Drawing {...props} />
          {series.length > 1 && <Legend {...props} />}
          <ValueTable {...props} />
        </>
      )}
    </figure>
  );
}

function Drawing({ title, steps, stepMs, series, scale, isBars = false }: ChartProps) {
  const [element, room] = useWidth<HTMLDivElement>();
  const width = Math.max(200, room);
  const tops = isBars
    ? steps.map((_, step) => series.reduce((sum, { values }) => sum + (values[step] ?? 0), 0))
    : series.flatMap(({ values }) => values.map((value) => value ?? 0));
  const top = scale.top(Math.max(0, ...tops));
  const each = (width - LEFT) / Math.max(1, steps.length);
  const x = (step: number) => LEFT + step * each;
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const everyTick = Math.ceil(steps.length / Math.max(1, Math.floor((width - LEFT) / TICK)));
  return (
    <div ref={element}>
      <svg width={width} height={HEIGHT} role="img" aria-label={`${title}; the table below has the values`}>
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line className="grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 8} y={y(value) + 4} textAnchor="end">
              {scale.words(value)}
            </text>
          </g>
        ))}
        {steps.map((at, step) =>
          step % everyTick === 0 && x(step) + TICK <= width + TICK / 2 ? (
            <text key={at} x={x(step)} y={HEIGHT - 4}>
              {tickText(at, stepMs)}
            </text>
          ) : null,
        )}
        {isBars ? (
          <Bars {...{ steps, stepMs, series, scale, x, y, each }} />
        ) : (
          <Lines {...{ steps, stepMs, series, scale, y }} x={(step) => x(step) + each / 2} />
        )}
      </svg>
    </div>
  );
}

interface Drawn extends Pick<ChartProps, 'steps' | 'stepMs' | 'series' | 'scale'> {
  x: (step: number) => number;
  y: (value: number) => number;
}

function Bars({ steps, stepMs, series, scale, x, y, each }: Drawn & { each: number }) {
  const gap = each > 6 ? 1 : 0.25;
  return steps.map((at, step) => {
    let below = 0;
    return series.map(({ name, values }, index) => {
      const value = values[step] ?? 0;
      if (value === 0) return null;
      const from = below;
      below += value;
      return (
        <rect
          key={`${at} ${name}`}
          className={`s${index}`}
          x={x(step) + gap}
          width={Math.max(1, each - 2 * gap)}
          y={y(below)}
          height={Math.max(0.5, y(from) - y(below))}
        >
          <title>{`${stepText(at, stepMs)}, ${name}: ${scale.words(value)}`}</title>
        </rect>
      );
    });
  });
}

/** Connects the steps that have a value, across gaps. */
function Lines({ steps, stepMs, series, scale, x, y }: Drawn) {
  return series.map(({ name, values }, index) => {
    const known = values.flatMap((value, step) => (value === null ? [] : [{ value, step }]));
    const points = known.map(({ value, step }) => `${x(step).toFixed(1)} ${y(value).toFixed(1)}`);
    return (
      <g key={name} className={`s${index}`}>
        <path className="line" d={points.length > 0 ? `M${points.join(' L')}` : ''} />
        {known.map(({ value, step }) => (
          <circle key={step} cx={x(step)} cy={y(value)} r={2.5}>
            <title>{`${stepText(steps[step]!, stepMs)}: ${scale.words(value)}`}</title>
          </circle>
        ))}
      </g>
    );
  });
}

/** Name and sum beside each colour, because colour is never the only sign. */
function Legend({ series, scale }: ChartProps) {
  return (
    <ul className="legend">
      {series.map(({ name, values }, index) => (
        <li key={name} className={`s${index}`}>
          {name}{' '}
          <span className="dim">{scale.words(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))}</span>
        </li>
      ))}
    </ul>
  );
}
