import { useQuery } from '@tanstack/react-query';
import type { TrackerItemView } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action, useMay } from '../../shell/action.tsx';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { OutsideLink } from '../../shell/outside-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';
import { plural } from '../../words.ts';
import { Part } from './part.tsx';

const WHY: Record<TrackerItemView['waiting'], string> = {
  untrusted: 'Its author may not push to the repository, so no work has started.',
  edited: 'It was edited since it was taken. Its task has the earlier text.',
  blocked: 'It waits for an item that is no task.',
  '': 'It is about to become a task.',
};

/** Where tasks come from besides people, and which items wait for a person. */
export function Tracker() {
  const { project } = useShown();
  const now = useNow();
  const { data, error } = useQuery({
    queryKey: ['tracker', project.id],
    queryFn: ({ signal }) => api.tracker({ project: project.id }, withTimeout(signal)),
    refetchInterval: 30_000,
  });
  return (
    <Part id="tracker" title="Tracker" about="The issues or files that become tasks." error={error}>
      {data && data.name === null && (
        <p className="dim">
          No tracker is followed. Add one under <code>tracker</code> in the config above.
        </p>
      )}
      {data && data.name !== null && (
        <>
          <p className={data.trouble === null ? 'working' : 'crashed'}>
            <OutsideLink url={data.url}>{plainLine(data.name)}</OutsideLink>, {plural(data.items, 'item')},{' '}
            {data.trouble !== null
              ? plainLine(data.trouble)
              : data.syncedAt === null
                ? 'not read yet'
                : `read ${elapsed(Math.max(0, now - data.syncedAt))} ago`}
          </p>
          <Action act={() => api.syncTracker({ project: project.id, by: 'page' })} done="The tracker was read">
            Read now
          </Action>
        </>
      )}
      <ul className="tiles">
        {data?.waiting.map((item) => (
          <Waiting key={item.id} item={item} />
        ))}
      </ul>
    </Part>
  );
}

function Waiting({ item }: { item: TrackerItemView }) {
  const { project } = useShown();
  const may = useMay('operator');
  const [isRefusing, setRefusing] = useState(false);
  const about = { project: project.id, item: item.id, by: 'page' };
  return (
    <li className="card">
      <h4>
        <OutsideLink url={item.url}>{plainLine(item.name)}</OutsideLink> {plainLine(item.title)}{' '}
        <span className="dim">by {plainLine(item.author)}</span>
      </h4>
      <p className="waiting">{WHY[item.waiting]}</p>
      <p className="dim">{plainLine(item.excerpt)}</p>
      <p className="row">
        <Action
          className="primary"
          act={() => api.takeItem({ ...about, ...(item.hash === null ? {} : { hash: item.hash }) })}
          done={`${plainLine(item.name)} is a task now`}
        >
          Take <span className="unseen">{plainLine(item.name)}</span>
        </Action>
        <button type="button" disabled={!may} onClick={() => setRefusing(true)}>
          Refuse <span className="unseen">{plainLine(item.name)}</span>
        </button>
      </p>
      {isRefusing && <Refusal item={item} onClose={() => setRefusing(false)} />}
    </li>
  );
}

function Refusal({ item, onClose }: { item: TrackerItemView; onClose: () => void }) {
  const { project } = useShown();
  const [why, setWhy] = useState('');
  return (
    <FormDialog
      title={`Refuse ${plainLine(item.name)}?`}
      onClose={onClose}
      send={() => api.refuseItem({ project: project.id, item: item.id, by: 'page', why: why.trim() })}
      done={`${plainLine(item.name)} is refused`}
      yes="Refuse"
      isReady={why.trim() !== ''}
    >
      <label>
        Why?
        <textarea rows={3} value={why} maxLength={20_000} onChange={(event) => setWhy(event.target.value)} />
      </label>
    </FormDialog>
  );
}
