import type { BulkOperation, BulkResult } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { useAct } from '../../shell/action.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { tell } from '../../shell/notices.tsx';
import { useShown } from '../../shell/project.tsx';
import { PRIORITY, plural } from '../../words.ts';
import type { BoardStore } from './board-store.ts';

/** The daemon takes so many at once. */
const AT_ONCE = 500;
const NAMED = 8;

const DONE: Record<BulkOperation, string> = {
  cancel: 'cancelled',
  retry: 'set to work again',
  approve: 'approved',
  prioritise: 'prioritised',
};

interface BulkProps {
  store: BoardStore;
  selected: ReadonlySet<number>;
  clear: () => void;
}

/** What can be done to all tasks that are selected. */
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
    if (done > 0) tell(`${plural(done, 'task')} ${DONE[operation]}`);
    if (done === numbers.length) clear();
  };
  const title = (number: number) => plainLine(store.task(number)?.title ?? '').slice(0, 100);
  return (
    <>
      {numbers.length > 0 && (
        <div className="bulk" role="toolbar" aria-label="Do to all that are selected">
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
      {/* Not a select in the bar: by keyboard it would set every priority on the way to the one that is meant. */}
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
          <p>Whoever works on them is stopped. Their work is kept, and Retry sets them going again.</p>
          <footer>
            <button type="button" onClick={() => ask(null)}>
              Keep things as they are
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
