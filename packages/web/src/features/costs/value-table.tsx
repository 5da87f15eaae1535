import { stepText } from './axis.ts';
import type { ChartProps } from './chart.tsx';

/** The chart's values, for reading, copying and screen readers. */
export function ValueTable({ title, steps, stepMs, series, scale }: ChartProps) {
  return (
    <details>
      <summary className="dim">
        As a table<span className="unseen">: {title}</span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
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
                  return <td key={name}>{value === null ? 'no data' : scale.words(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}
