import type { BulkOperation, BulkResult } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct } from '../../shell/action.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { useShown } from '../../shell/project.tsx';
import { showToast } from '../../shell/toasts.tsx';
import { PRIORITY, plural } from '../../words.ts';
import type { BoardStore } from './board-store.ts';

/** The daemon accepts this many per request. */
const AT_ONCE = 500;
const NAMED = 8;

const DONE: Record<BulkOperation, string> = {
  cancel: 'cancelled',
  retry: 'restarted',
  approve: 'approved',
  prioritise: 'changed',
};

interface BulkProps {
  store: BoardStore;
  selected: ReadonlySet<number>;
  clear: () => void;
}

/** Actions on all selected tasks. */
export function BulkBar({ store, selected, clear }: BulkProps) {
  const { project } = useShown();
  const act = useAct();
  const [isBusy, setBusy] = useState(false);
  const [asking, ask] = useState<'cancel' | 'priority' | null>(null);
  const [refused, setRefused] = useState<BulkResult['refused']>([]);
  const numbers = [...selected].sort((one, other) => one - other);
  const run = async (operation: BulkOperation, priority?: number) => {
    ask(null);
    setBusy(true);
    const failed: BulkResult['refused'] = [];
    let done = 0;
    await act(async () => {
      for (let start = 0; start < numbers.length; start += AT_ONCE) {
        const tasks = numbers.slice(start, start + AT_ONCE);
        const result = await api.bulkTasks({ project: project.id, tasks, operation, priority });
        store.take(result.done);
        done += result.done.length;
        failed.push(...result.refused);
      }
    });
    setBusy(false);
    setRefused(failed);
    if (done > 0) showToast(`${plural(done, 'task')} ${DONE[operation]}`);
    if (done === numbers.length) clear();
  };
  const title = (number: number) => plainLine(store.task(number)?.title ?? '').slice(0, 100);
  return (
    <>
      {numbers.length > 0 && (
        <div className="bulk" role="toolbar" aria-label="Selected tasks">
          <strong>{plural(numbers.length, 'task')} selected</strong>
          <button type="button" disabled={isBusy} onClick={() => void run('retry')}>
            Retry
          </button>
          <button type="button" disabled={isBusy} onClick={() => void run('approve')}>
            Approve
          </button>
          <button type="button" disabled={isBusy} onClick={() => ask('priority')}>
            Priority…
          </button>
          <button type="button" className="danger" disabled={isBusy} onClick={() => ask('cancel')}>
            Cancel…
          </button>
          <button type="button" className="quiet" onClick={clear}>
            Clear selection <kbd>Esc</kbd>
          </button>
        </div>
      )}
      {/* Not a select: with the keyboard it would set every priority on the way to the wanted one. */}
      {asking === 'priority' && (
        <Dialog title={`Priority of ${plural(numbers.length, 'task')}`} onClose={() => ask(null)}>
          <ul className="moves">
            {PRIORITY.map((word, priority) => (
              <li key={word}>
                <button type="button" onClick={() => void run('prioritise', priority)}>
                  {word}
                </button>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
      {asking === 'cancel' && (
        <Dialog title={`Cancel ${plural(numbers.length, 'task')}?`} onClose={() => ask(null)}>
          <ul className="named">
            {numbers.slice(0, NAMED).map((number) => (
              <li key={number}>
                <span className="number">#{number}</span> {title(number)}
              </li>
            ))}
            {numbers.length > NAMED && <li className="dim">and {plural(numbers.length - NAMED, 'more', 'more')}</li>}
          </ul>
          <p>Agents that work on them are stopped. Their work is kept. Retry restarts them.</p>
          <footer>
            <button type="button" onClick={() => ask(null)}>
              Keep tasks
            </button>
            <button type="button" className="danger" onClick={() => void run('cancel')}>
              Cancel {plural(numbers.length, 'task')}
            </button>
          </footer>
        </Dialog>
      )}
      {refused.length > 0 && (
        <Refused
          refused={refused}
          title={title}
          onClose={() => {
            setRefused([]);
            clear();
          }}
        />
      )}
    </>
  );
}

function Refused(props: { refused: BulkResult['refused']; title: (number: number) => string; onClose: () => void }) {
  const { refused, title, onClose } = props;
  return (
    <Dialog title={`${plural(refused.length, 'task')} refused`} onClose={onClose}>
      <ul className="named">
        {refused.map(({ number, message, hint }) => (
          <li key={number}>
            <p>
              <span className="number">#{number}</span> {title(number)}
            </p>
            <p className="dim">
              {message}
              {hint === '' ? '' : `: ${hint}`}
            </p>
          </li>
        ))}
      </ul>
      <footer>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </footer>
    </Dialog>
  );
}
