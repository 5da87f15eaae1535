import { type Run, workerName } from '@tidemill/contract';
import { useState } from 'react';
import { useAddress } from '../../address.ts';
import { LongList } from '../../shell/long-list.tsx';
import { plural, stageText, timeOf } from '../../words.ts';
import { Todo } from '../worker/progress.tsx';
import type { OutputItem } from './folded-output.ts';
import { useFoldedOutput } from './run-output.ts';

const LINE_PX = 19;

/** The agent's output, live while it works. */
export function OutputPanel({ runs }: { runs: Run[] }) {
  const [wanted, choose] = useAddress('run');
  const newestFirst = runs.toReversed();
  const run = runs.find(({ id }) => id === wanted) ?? newestFirst[0];
  if (!run) return <p className="empty">No runs yet. The agent's output appears here while it works.</p>;
  return (
    <section aria-label="Output">
      <div className="row panel-head">
        <label>
          Run{' '}
          <select value={run.id} onChange={(event) => choose(event.target.value)}>
            {newestFirst.map((one, index) => (
              <option key={one.id} value={one.id}>
                {newestFirst.length - index}. {nameOf(one)}
              </option>
            ))}
          </select>
        </label>
        {wanted !== '' && run !== newestFirst[0] && (
          <button type="button" onClick={() => choose('')}>
            Newest run
          </button>
        )}
      </div>
      <Todo todo={run.progress?.todo ?? []} isOpen={false} />
      <RunOutput key={run.id} run={run} />
    </section>
  );
}

const nameOf = ({ mode, attempt, workerId, startedAt, outcome }: Run) =>
  [
    `${stageText(mode)}${attempt > 1 ? ` (try ${attempt})` : ''}, ${workerName(workerId)}, ${timeOf(startedAt)}`,
    outcome ? stageText(outcome) : 'running',
  ].join(': ');

function RunOutput({ run }: { run: Run }) {
  const { transcript, isReading } = useFoldedOutput(run);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const { items, dropped, tail, isCut } = transcript;
  const count = items.length + (tail === '' ? 0 : 1);
  const toggle = (id: number, isOpen: boolean) =>
    setOpened((known) => {
      if (known.has(id) === isOpen) return known;
      const next = new Set(known);
      if (isOpen) next.add(id);
      else next.delete(id);
      return next;
    });
  return (
    <>
      {dropped > 0 && (
        <p className="dim">The first {plural(dropped, 'line')} are not shown because the output is very long.</p>
      )}
      {count === 0 ? (
        <p className="empty">{isReading && run.status === 'running' ? 'No output yet.' : emptyText(isReading)}</p>
      ) : (
        <LongList
          label="Agent output"
          className="output"
          count={count}
          estimate={LINE_PX}
          isFollowing
          keyOf={(index) => index + dropped}
          row={(index) => (
            <Item
              item={items[index] ?? { kind: 'text', text: tail.slice(0, 2000) }}
              isOpen={opened.has(index + dropped)}
              onToggle={(isOpen) => toggle(index + dropped, isOpen)}
            />
          )}
        />
      )}
      {isCut && <p className="waiting">The output was cut at 5 MB. The rest was not kept.</p>}
    </>
  );
}

const emptyText = (isReading: boolean) => (isReading ? 'Loading…' : 'No output, or it is no longer kept.');

interface ItemProps {
  item: OutputItem;
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
}

function Item({ item, isOpen, onToggle }: ItemProps) {
  switch (item.kind) {
    case 'text':
      return <p className="said">{item.text}</p>;
    case 'blank':
      return item.count < 4 ? (
        <p className="said"> </p>
      ) : (
        <p className="said dim">[{plural(item.count, 'blank line')}]</p>
      );
    case 'call':
      return (
        <details className="call" open={isOpen} onToggle={(event) => onToggle(event.currentTarget.open)}>
          <summary>
            <strong>{item.tool}</strong> <span className="argument">{item.argument}</span>{' '}
            {item.isFailed && <span className="crashed">failed</span>}
          </summary>
          {isOpen && <CallResult item={item} />}
        </details>
      );
  }
}

function CallResult({ item: { argument, result, more } }: { item: Extract<OutputItem, { kind: 'call' }> }) {
  return (
    <>
      <pre>{argument}</pre>
      {result.length > 0 ? (
        <pre className="result">{result.join('\n')}</pre>
      ) : (
        <p className="dim">The agent reported no result.</p>
      )}
      {more > 0 && <p className="dim">and {plural(more, 'more line')}</p>}
    </>
  );
}
