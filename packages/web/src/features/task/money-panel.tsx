import type { Run } from '@tidemill/contract';
import { elapsed, useNow } from '../../time.ts';
import { money, stageText } from '../../words.ts';
import { outcomeLook } from './timeline-panel.tsx';

const amount = (count: number) => count.toLocaleString('en-US');

export function MoneyPanel({ runs, costUsd }: { runs: Run[]; costUsd: number }) {
  const now = useNow();
  if (runs.length === 0) return <p className="empty">No run yet, so nothing was spent.</p>;
  const assumed = runs.reduce((sum, { usage }) => sum + (usage.assumedUsd ?? 0), 0);
  const sum = (of: (run: Run) => number) => amount(runs.reduce((total, run) => total + of(run), 0));
  return (
    <section aria-label="Money" className="wide-table">
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Agent</th>
            <th scope="col">Outcome</th>
            <th scope="col" className="figure">
              Took
            </th>
            <th scope="col" className="figure">
              Tokens in
            </th>
            <th scope="col" className="figure">
              out
            </th>
            <th scope="col" className="figure">
              Sent back
            </th>
            <th scope="col" className="figure">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, index) => (
            <tr key={run.id}>
              <td>
                {index + 1}. {stageText(run.mode)} {run.attempt > 1 && <span className="dim">try {run.attempt}</span>}
              </td>
              <td>{run.agent}</td>
              <td>
                <span className={outcomeLook(run)}>{run.outcome ? stageText(run.outcome) : 'under way'}</span>{' '}
                {run.failure && <span className="dim">{stageText(run.failure)}</span>}
              </td>
              <td className="figure">{elapsed((run.endedAt ?? now) - run.startedAt)}</td>
              <td className="figure">{amount(run.usage.inputTokens)}</td>
              <td className="figure">{amount(run.usage.outputTokens)}</td>
              <td className="figure">{run.validationRetries}</td>
              <td className="figure">
                <Cost run={run} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={4}>
              Together
            </th>
            <td className="figure">{sum(({ usage }) => usage.inputTokens)}</td>
            <td className="figure">{sum(({ usage }) => usage.outputTokens)}</td>
            <td className="figure">{sum(({ validationRetries }) => validationRetries)}</td>
            <td className="figure">
              <strong>{money(costUsd)}</strong>
            </td>
          </tr>
        </tfoot>
      </table>
      {assumed > 0 && (
        <p className="dim">
          {money(assumed)} of it is assumed: nobody told what these requests cost, so each counts $0.50, too much rather
          than too little.
        </p>
      )}
    </section>
  );
}

function Cost({ run: { usage, status, reservedUsd } }: { run: Run }) {
  if (usage.costUsd === null)
    return <span className="dim">{status === 'running' ? `${money(reservedUsd)} set aside` : 'not told'}</span>;
  const assumed = usage.assumedUsd ?? 0;
  return (
    <>
      {money(usage.costUsd)}
      {assumed > 0 && <span className="dim"> ({assumed < usage.costUsd ? `${money(assumed)} ` : ''}assumed)</span>}
    </>
  );
}
