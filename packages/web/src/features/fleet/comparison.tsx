import type { MetricsView } from '@tidemill/contract';
import { FIGURES, type Grade } from './figures.tsx';

/** Colour is never the only sign. */
const WORDS: Record<Grade, string> = { good: 'good', fair: 'fair', poor: 'poor' };

/** All workers side by side, a column each. */
export function Comparison({ metrics }: { metrics: MetricsView | undefined }) {
  if (!metrics) return <p className="dim">Loading the figures…</p>;
  const workers = metrics.workers.filter(({ role }) => role === 'builder' || role === 'reviewer');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className="scroll" aria-label="Comparison" tabIndex={0}>
      <table className="comparison">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            {workers.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {FIGURES.map(({ name, text, grade }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {workers.map((worker) => {
                const mark = grade?.(worker) ?? null;
                return (
                  <td key={worker.name} className={mark ?? undefined}>
                    {text(worker)} {mark && <small>{WORDS[mark]}</small>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
