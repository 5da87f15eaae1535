import { type LoggedEvent, type Run, shownTo, type TaskDetail, workerName } from '@tidemill/contract';
import { memo, useEffect, useMemo, useState } from 'react';
import { plain } from '../../plain.ts';
import { LongList } from '../../shell/long-list.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { elapsed } from '../../time.ts';
import { money, plural, stageText, timeOf } from '../../words.ts';
import { sentenceOf } from '../feed/sentence.ts';
import { rowsOf, useTimeline } from './timeline.ts';

const LINE_PX = 29;

export function TimelinePanel({ detail: { task, runs } }: { detail: TaskDetail }) {
  const { events, isLoading, hasMore, error, more } = useTimeline(task.id, task.number);
  const [isOldestFirst, setOldestFirst] = useState(false);
  const [isAll, setAll] = useState(false);
  const rows = useMemo(() => {
    const shown = isAll ? events : events.filter(({ body }) => shownTo(body) !== 'log');
    return rowsOf(isOldestFirst ? shown.toReversed() : shown, runs);
  }, [events, isAll, isOldestFirst, runs]);
  // "Oldest first" needs the whole history, so load all pages.
  useEffect(() => {
    if (isOldestFirst && hasMore && !isLoading && error === null) more();
  }, [isOldestFirst, hasMore, isLoading, error, more]);
  return (
    <section aria-label="Timeline">
      <div className="row panel-head">
        <p className="dim">
          {isLoading ? 'Loading…' : `${plural(rows.length, 'line')}${hasMore ? ', more below' : ''}`}
        </p>
        <label>
          <input type="checkbox" checked={isOldestFirst} onChange={(event) => setOldestFirst(event.target.checked)} />
          Oldest first
        </label>
        <label>
          <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.target.checked)} />
          Show heartbeats
        </label>
      </div>
      {error !== null && (
        <p className="row" role="alert">
          <span className="waiting">{errorText(error)}</span>
          <button type="button" onClick={more}>
            Retry
          </button>
        </p>
      )}
      {rows.length === 0 && !isLoading && error === null && <p className="empty">No events yet.</p>}
      <LongList
        label={`Events of #${task.number}`}
        className="timeline"
        count={rows.length}
        estimate={LINE_PX}
        keyOf={(index) => {
          const row = rows[index]!;
          return row.kind === 'run' ? row.key : row.event.seq;
        }}
        row={(index) => {
          const row = rows[index]!;
          return row.kind === 'run' ? <RunLine run={row.run} /> : <EventText event={row.event} isInRun={row.isInRun} />;
        }}
        onEnd={() => hasMore && !isOldestFirst && error === null && more()}
      />
    </section>
  );
}

function RunLine({ run }: { run: Run }) {
  const { mode, attempt, workerId, agent, startedAt, endedAt, outcome, usage } = run;
  return (
    <h3 className="run-line">
      {stageText(mode)} {attempt > 1 && `(try ${attempt})`} by {workerName(workerId)}{' '}
      <span className="dim">
        with {agent}
        {endedAt !== null && `, ${elapsed(endedAt - startedAt)}`}
        {usage.costUsd !== null && `, ${money(usage.costUsd)}`}
      </span>{' '}
      <span className={outcomeLook(run)}>{outcome ? stageText(outcome) : 'running'}</span>
    </h3>
  );
}

export function outcomeLook({ outcome }: Pick<Run, 'outcome'>): string {
  if (outcome === null) return 'working';
  if (['failed', 'interrupted', 'conflicts_detected'].includes(outcome)) return 'crashed';
  return ['needs_info', 'changes_requested', 'no_changes'].includes(outcome) ? 'waiting' : 'landed';
}

const EventText = memo(function EventText({ event, isInRun }: { event: LoggedEvent; isInRun: boolean }) {
  const { who, text, look } = sentenceOf(event);
  return (
    <p className={isInRun ? 'event-line in-run' : 'event-line'} data-seq={event.seq}>
      <time className="dim" dateTime={new Date(event.at).toISOString()}>
        {timeOf(event.at)}
      </time>
      <span className={look}>{plain(who)}</span>
      <span>{plain(text)}</span>
    </p>
  );
});
