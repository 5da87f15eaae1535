import { useQuery } from '@tanstack/react-query';
import type { EmergencyImpact } from '@tidemill/contract';
import { useState } from 'react';
import { api, soon } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { plural } from '../../words.ts';

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

/** Names what it will hit. Should the daemon not be able to tell, it can be stopped all the same. */
function Ask({ onClose }: { onClose: () => void }) {
  const [reason, setReason] = useState('');
  const [isBusy, setBusy] = useState(false);
  const act = useAct();
  const { data, error } = useQuery({
    queryKey: ['emergency'],
    queryFn: ({ signal }) => api.emergencyImpact({}, soon(signal)),
    refetchInterval: 2000,
  });
  const stop = async () => {
    setBusy(true);
    const order = { by: 'page', ...(reason.trim() ? { reason } : {}) };
    if (
      await act(() => api.emergencyStop(order), 'Everything is stopped. Work is kept; Resume all sets it going again.')
    )
      onClose();
    setBusy(false);
  };
  return (
    <Dialog title="Stop everything now?" onClose={onClose}>
      <div className="prose">
        {data && <Impact impact={data} />}
        {!data && (
          <p>{error ? 'What it would stop cannot be told right now. It can be stopped all the same.' : 'Looking…'}</p>
        )}
        <p>
          Every agent is killed within five seconds and stays stopped. What they were doing is kept in their worktrees
          and goes on after “Resume all”.
        </p>
        <label>
          Why, for the record
          <input value={reason} maxLength={1000} onChange={(event) => setReason(event.target.value)} />
        </label>
      </div>
      <footer>
        <button type="button" onClick={onClose}>
          Keep things as they are
        </button>
        <button type="button" className="danger" disabled={isBusy} onClick={() => void stop()}>
          Stop everything now
        </button>
      </footer>
    </Dialog>
  );
}

function Impact({ impact: { busy } }: { impact: EmergencyImpact }) {
  if (busy.length === 0) return <p>Nobody is at work. From now on nobody takes anything.</p>;
  return (
    <>
      <p>This stops {plural(busy.length, 'agent')} at work:</p>
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
