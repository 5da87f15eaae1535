import { useQuery } from '@tanstack/react-query';
import type { TaskDetail } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct } from '../../shell/action.tsx';
import { Command } from '../../shell/command.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { useShown } from '../../shell/project.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { timeOf } from '../../words.ts';

/** Writes a snapshot into a new folder. Nothing is overwritten. */
export function RestoreDialog({ detail: { task }, onClose }: { detail: TaskDetail; onClose: () => void }) {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['snapshots', project.id],
    queryFn: ({ signal }) => api.snapshots({ project: project.id }, withTimeout(signal)),
  });
  const own = data?.filter(({ number }) => number === task.number).sort((a, b) => b.at - a.at);
  const [chosen, choose] = useState<string | null>(null);
  const [to, setTo] = useState(`${project.root}-task-${task.number}`);
  const [isBusy, setBusy] = useState(false);
  const [written, setWritten] = useState<string | null>(null);
  const run = useAct();
  const ref = chosen ?? own?.[0]?.ref;
  const restore = async () => {
    if (ref === undefined) return;
    setBusy(true);
    await run(async () => setWritten((await api.restoreSnapshot({ project: project.id, ref, to: to.trim() })).to));
    setBusy(false);
  };
  return (
    <Dialog title={`Restore a snapshot of #${task.number}`} onClose={onClose}>
      {error && <p role="alert">{errorText(error)}</p>}
      {!own && !error && <p className="dim">Loading…</p>}
      {own?.length === 0 && (
        <p>No snapshots yet. Tidemill takes one before anything that could lose work: cancel, stop, restart.</p>
      )}
      {written !== null && (
        <div role="status" className="prose">
          <p className="working">Written to</p>
          <Command text={written} />
        </div>
      )}
      {own && own.length > 0 && written === null && (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            void restore();
          }}
        >
          <fieldset>
            <legend>Snapshot</legend>
            {own.map((snapshot) => (
              <label key={snapshot.ref} className="choice">
                <input
                  type="radio"
                  name="snapshot"
                  checked={snapshot.ref === ref}
                  onChange={() => choose(snapshot.ref)}
                />
                <span>
                  {timeOf(snapshot.at)} <span className="dim">{plainLine(snapshot.why)}</span>{' '}
                  <code>{snapshot.commit.slice(0, 10)}</code>
                </span>
              </label>
            ))}
          </fieldset>
          <label>
            New folder on the daemon's machine
            <input value={to} required onChange={(event) => setTo(event.target.value)} />
          </label>
          <footer>
            <button type="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" className="primary" disabled={isBusy || to.trim() === ''} aria-busy={isBusy}>
              Restore
            </button>
          </footer>
        </form>
      )}
    </Dialog>
  );
}
