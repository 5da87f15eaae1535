import { useQuery } from '@tanstack/react-query';
import type { Evidence } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { useShown } from '../../shell/project.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { elapsed } from '../../time.ts';
import { plural, timeOf } from '../../words.ts';
import { TextPane } from './text-pane.tsx';

const LOOK = { pass: 'working', fail: 'crashed', unverified: 'waiting' } as const;
const WORD = { pass: 'passed', fail: 'failed', unverified: 'unverified: could not run' } as const;
const EARLIER_SHOWN = 50;

/** The newest receipt of each gate, then earlier ones. `tree` is the branch's current tree. */
export function GateList({ evidence, tree }: { evidence: Evidence[]; tree: string | null }) {
  const [read, setRead] = useState<Evidence | null>(null);
  const newest = new Map(evidence.map((receipt) => [receipt.gate, receipt]));
  const earlier = evidence.filter((receipt) => newest.get(receipt.gate) !== receipt).reverse();
  return (
    <aside className="gates" aria-label="Gates">
      <h3>Gates</h3>
      {evidence.length === 0 && <p className="dim">No gate has run yet.</p>}
      <ul>
        {[...newest.values()].map((receipt) => (
          <Receipt key={receipt.id} receipt={receipt} tree={tree} onRead={() => setRead(receipt)} />
        ))}
      </ul>
      {earlier.length > 0 && (
        <details>
          <summary>{plural(earlier.length, 'earlier receipt')}</summary>
          <ul>
            {earlier.slice(0, EARLIER_SHOWN).map((receipt) => (
              <Receipt key={receipt.id} receipt={receipt} tree={null} onRead={() => setRead(receipt)} />
            ))}
          </ul>
        </details>
      )}
      {read && <GateLog receipt={read} onClose={() => setRead(null)} />}
    </aside>
  );
}

function Receipt({ receipt, tree, onRead }: { receipt: Evidence; tree: string | null; onRead: () => void }) {
  const { gate, status, severity, scan, counts, durationMs, exitCode, command, hash, at, position } = receipt;
  const isWarning = status === 'fail' && severity === 'warn';
  return (
    <li data-gate={gate}>
      <p className="row">
        <strong>{plainLine(gate)}</strong>
        <span className={isWarning ? 'waiting' : LOOK[status]}>{isWarning ? 'warning' : WORD[status]}</span>
      </p>
      {scan && <p>{plainLine(scan.summary)}</p>}
      {scan && scan.missing.length > 0 && (
        <details>
          <summary>{plural(scan.missing.length, 'gap')}</summary>
          <ul>
            {scan.missing.map((each) => (
              <li key={each}>{plainLine(each)}</li>
            ))}
          </ul>
        </details>
      )}
      {scan && scan.findings.length > 0 && (
        <details>
          <summary>{plural(scan.findings.length, 'finding')}</summary>
          <ul>
            {scan.findings.map(({ severity: grade, id, title, file, line }) => (
              <li key={`${id} ${file ?? ''} ${line ?? ''} ${title}`}>
                <strong>{grade}</strong> {plainLine(title)} ({plainLine(id)})
                {file !== null && (
                  <>
                    {' '}
                    <code>
                      {plainLine(file)}
                      {line !== null && `:${line}`}
                    </code>
                  </>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
      {command && (
        <p>
          <code className="clamp">{plainLine(command)}</code>
        </p>
      )}
      <p className="dim">
        {counts && `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped. `}
        {took(durationMs)}
        {exitCode !== null && exitCode !== 0 && `, exit code ${exitCode}`}, {timeOf(at)}
      </p>
      <p className="dim">
        tree <code title={receipt.tree}>{receipt.tree.slice(0, 10)}</code>
        {tree !== null && receipt.tree !== tree && ' (not the current tree)'}, evidence{' '}
        <code title={hash}>{hash.slice(0, 10)}</code>, link {position}
      </p>
      <button type="button" className="quiet" onClick={onRead}>
        View output{' '}
        <span className="unseen">
          of {plainLine(gate)}, link {position}
        </span>
      </button>
    </li>
  );
}

const took = (ms: number) => (ms < 1000 ? `${Math.round(ms)} ms` : elapsed(ms));

function GateLog({ receipt: { id, gate, status }, onClose }: { receipt: Evidence; onClose: () => void }) {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['evidence-log', project.id, id],
    queryFn: ({ signal }) => api.evidenceLog({ project: project.id, evidence: id }, withTimeout(signal)),
    // A receipt's log does not change.
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Dialog title={`${plainLine(gate)} ${WORD[status]}`} onClose={onClose} isWide>
      {error && <p role="alert">{errorText(error)}</p>}
      {!data && !error && <p className="dim">Loading…</p>}
      {data?.text === '' && <p className="dim">No output.</p>}
      {data && data.text !== '' && <TextPane label={`Output of ${gate}`} text={data.text} />}
      {data?.isCut && <p className="waiting">Cut at 1 MB.</p>}
    </Dialog>
  );
}
