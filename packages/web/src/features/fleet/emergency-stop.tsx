import { useQuery } from '@tanstack/react-query';
import type { EmergencyImpact } from '@tidemill/contract';
import { useState } from 'react';
import { api, isTemporary, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { plural } from '../../words.ts';
import { usePersonName } from '../project/queries.ts';

/** The daemon needs at most nine seconds. One that takes longer hangs. */
const STOP_MS = 12_000;

export function EmergencyStop() {
  const [isOpen, setOpen] = useState(false);
  const may = useMay('operator');
  return (
    <>
      <button type="button" className="danger" disabled={!may} onClick={() => setOpen(true)}>
        Emergency stop
      </button>
      {isOpen && <Ask onClose={() => setOpen(false)} />}
    </>
  );
}

/** Shows what will be stopped. The stop also works if the daemon cannot list it. */
function Ask({ onClose }: { onClose: () => void }) {
  const [reason, setReason] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [hasFailed, setFailed] = useState(false);
  const by = usePersonName();
  const act = useAct();
  const { data, error } = useQuery({
    queryKey: ['emergency'],
    queryFn: ({ signal }) => api.emergencyImpact({}, withTimeout(signal)),
    refetchInterval: 2000,
  });
  const stop = async () => {
    setBusy(true);
    const order = { by, ...(reason.trim() ? { reason } : {}) };
    const send = () =>
      api.emergencyStop(order, AbortSignal.timeout(STOP_MS)).catch((error) => {
        setFailed(isTemporary(error));
        throw error;
      });
    if (await act(send, 'All agents are stopped. Work is kept. Continue with Resume all.')) onClose();
    setBusy(false);
  };
  return (
    <Dialog title="Stop everything now?" onClose={onClose}>
      <div className="prose">
        {data && <Impact impact={data} />}
        {data?.deliveries.map(({ project, ref, environment }) => (
          <p key={`${project}/${ref}`}>
            The delivery <strong>{ref}</strong> to {environment} <span className="dim">in {project}</span> is stopped
            and rolled back.
          </p>
        ))}
        {!data && <p>{error ? 'Cannot list the running agents now. You can still stop everything.' : 'Loading…'}</p>}
        <p>
          Every agent is killed within five seconds and stays stopped. Work is kept in the worktrees and continues after
          “Resume all”.
        </p>
        {hasFailed && (
          <p role="alert">
            Tidemill did not stop its agents. Run <code>tidemill stop --emergency</code> on its machine: it kills
            Tidemill with all processes it started. Work is kept.
          </p>
        )}
        <label>
          Reason (for the log)
          <input value={reason} maxLength={1000} onChange={(event) => setReason(event.target.value)} />
        </label>
      </div>
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={() => void stop()}>
          Stop everything now
        </button>
      </footer>
    </Dialog>
  );
}

function Impact({ impact: { busy } }: { impact: EmergencyImpact }) {
  if (busy.length === 0) return <p>No agent is working. No agent will start new work.</p>;
  return (
    <>
      <p>This stops {plural(busy.length, 'working agent')}:</p>
      <ul className="impact">
        {busy.map(({ project, worker, number, title }) => (
          <li key={`${project}/${worker}`}>
            <strong>{worker}</strong> on #{number} {plainLine(title)} <span className="dim">in {project}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
