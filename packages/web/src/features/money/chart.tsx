import { type ReactNode, useId } from 'react';
import type { Series } from './series.ts';

interface ChartProps {
  title: string;
  /** Where each step begins. */
  steps: number[];
  stepMs: number;
  series: Series[];
  words: (value: number) => string;
  /** Bars on top of each other, for amounts; lines for states. */
  isBars?: boolean;
  most?: number;
}

const WIDTH = 560;
const HEIGHT = 160;
const LEFT = 56;
const BOTTOM = 20;
const TOP = 8;
const DAY_MS = 24 * 3_600_000;

/** Drawn by hand: a few rectangles need no library, and every value is also in a table for whoever cannot see them. */
export function Chart({ title, steps, stepMs, series, words, isBars = false, most }: ChartProps) {
  const id = useId();
  const sums = steps.map((_, step) => series.reduce((sum, { values }) => sum + (values[step] ?? 0), 0));
  const top =
    most ?? niceTop(Math.max(0, ...(isBars ? sums : series.flatMap(({ values }) => values.map((v) => v ?? 0)))));
  const width = (WIDTH - LEFT) / Math.max(1, steps.length);
  const x = (step: number) => LEFT + step * width;
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  return (
    <figure className="chart card" aria-labelledby={id}>
      <figcaption id={id}>
        <h3>{title}</h3>
        <span className="dim">{total({ isBars, sums, series, words })}</span>
      </figcaption>
      {isEmpty ? (
        <p className="dim nothing">Nothing in this period.</p>
      ) : (
        <>
          <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${title}; the table below has the values`}>
            {[0, top / 2, top].map((value) => (
              <g key={value}>
                <line className="grid" x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} />
                <text x={LEFT - 6} y={y(value) + 4} textAnchor="end">
                  {words(value)}
                </text>
              </g>
            ))}
            {steps.map((at, step) =>
              step % Math.ceil(steps.length / 6) === 0 ? (
                <text key={at} x={x(step)} y={HEIGHT - 4}>
                  {stepText(at, stepMs)}
                </text>
              ) : null,
            )}
            {isBars
              ? bars({
                  steps,
                  series,
                  x,
                  y,
                  width,
                  label: (name, at, value) => `${stepText(at, stepMs)}, ${name}: ${words(value)}`,
                })
              : series.map(({ name, values }, index) => (
                  <path key={name} className={`line s${index}`} d={path(values, (step) => x(step) + width / 2, y)} />
                ))}
          </svg>
          {series.length > 1 && <Legend series={series} />}
          <Table {...{ title, steps, stepMs, series, words }} />
        </>
      )}
    </figure>
  );
}

interface BarsInput {
  steps: number[];
  series: Series[];
  x: (step: number) => number;
  y: (value: number) => number;
  width: number;
  label: (name: string, at: number, value: number) => string;
}

function bars({ steps, series, x, y, width, label }: BarsInput): ReactNode {
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
          x={x(step) + 1}
          width={Math.max(1, width - 2)}
          y={y(below)}
          height={Math.max(0.5, y(from) - y(below))}
        >
          <title>{label(name, at, value)}</title>
        </rect>
      );
    });
  });
}

/** A line over the steps that have a value; a gap is bridged, because nothing is known to have been otherwise. */
function path(values: (number | null)[], x: (step: number) => number, y: (value: number) => number): string {
  const known = values.flatMap((value, step) =>
    value === null ? [] : [`${x(step).toFixed(1)} ${y(value).toFixed(1)}`],
  );
  return known.length === 1 ? `M${known[0]} h1` : `M${known.join(' L')}`;
}

function Legend({ series }: { series: Series[] }) {
  return (
    <ul className="legend">
      {series.map(({ name }, index) => (
        <li key={name} className={`s${index}`}>
          {name}
        </li>
      ))}
    </ul>
  );
}

function Table({
  title,
  steps,
  stepMs,
  series,
  words,
}: Pick<ChartProps, 'title' | 'steps' | 'stepMs' | 'series' | 'words'>) {
  return (
    <details>
      <summary className="dim">
        As a table <span className="unseen">: {title}</span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section className="scroll" aria-label={`${title}, as a table`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map((at, step) => (
              <tr key={at}>
                <th scope="row">{stepText(at, stepMs)}</th>
                {series.map(({ name, values }) => {
                  const value = values[step] ?? null;
                  return <td key={name}>{value === null ? 'nothing' : words(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}

function total({
  isBars,
  sums,
  series,
  words,
}: Pick<ChartProps, 'series' | 'words'> & { isBars: boolean; sums: number[] }) {
  if (isBars) return `${words(sums.reduce((sum, value) => sum + value, 0))} in all`;
  const last = series[0]?.values.findLast((value) => value !== null);
  return last === undefined || last === null ? '' : `${words(last)} last`;
}

function stepText(at: number, stepMs: number): string {
  const date = new Date(at);
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return stepMs >= DAY_MS ? day : stepMs >= DAY_MS / 8 ? `${day} ${time}` : time;
}

/** The next round number: 1, 2 or 5 times a power of ten. */
function niceTop(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
