import type { Run } from '@tidemill/contract';
import { elapsed, useNow } from '../../time.ts';
import { money, stageText } from '../../words.ts';
import { outcomeLook } from './timeline-panel.tsx';

const amount = (count: number) => count.toLocaleString('en-US');

const FIGURES = ['Cost', 'Duration', 'Tokens in', 'Tokens out', 'Sent back'];

export function CostsPanel({ runs, costUsd }: { runs: Run[]; costUsd: number }) {
  const now = useNow();
  if (runs.length === 0) return <p className="empty">No runs yet, so no costs.</p>;
  const assumed = runs.reduce((sum, { usage }) => sum + (usage.assumedUsd ?? 0), 0);
  const sum = (of: (run: Run) => number) => amount(runs.reduce((total, run) => total + of(run), 0));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section aria-label="Costs" className="wide-table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Outcome</th>
            {FIGURES.map((name) => (
              <th key={name} scope="col" className="figure">
                {name}
              </th>
            ))}
            <th scope="col">Agent</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, index) => (
            <tr key={run.id}>
              <td>
                {index + 1}. {stageText(run.mode)} {run.attempt > 1 && <span className="dim">try {run.attempt}</span>}
              </td>
              <td>
                <span className={outcomeLook(run)}>{run.outcome ? stageText(run.outcome) : 'running'}</span>{' '}
                {run.failure && <span className="dim">{stageText(run.failure)}</span>}
              </td>
              <td className="figure">
                <Cost run={run} />
              </td>
              <td className="figure">{elapsed((run.endedAt ?? now) - run.startedAt)}</td>
              <td className="figure">{amount(run.usage.inputTokens)}</td>
              <td className="figure">{amount(run.usage.outputTokens)}</td>
              <td className="figure">{run.validationRetries}</td>
              <td>{run.agent}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={2}>
              Total
            </th>
            <td className="figure">
              <strong>{money(costUsd)}</strong>
            </td>
            <td className="figure">
              {elapsed(runs.reduce((ms, run) => ms + (run.endedAt ?? now) - run.startedAt, 0))}
            </td>
            <td className="figure">{sum(({ usage }) => usage.inputTokens)}</td>
            <td className="figure">{sum(({ usage }) => usage.outputTokens)}</td>
            <td className="figure">{sum(({ validationRetries }) => validationRetries)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
      {assumed > 0 && (
        <p className="dim">
          {money(assumed)} of it is assumed: the cost of these requests is unknown, so each counts as $0.50.
        </p>
      )}
    </section>
  );
}

function Cost({ run: { usage, status, reservedUsd } }: { run: Run }) {
  if (usage.costUsd === null)
    return <span className="dim">{status === 'running' ? `${money(reservedUsd)} reserved` : 'unknown'}</span>;
  const assumed = usage.assumedUsd ?? 0;
  return (
    <>
      {money(usage.costUsd)}
      {assumed > 0 && <span className="dim"> ({assumed < usage.costUsd ? `${money(assumed)} ` : ''}assumed)</span>}
    </>
  );
}
