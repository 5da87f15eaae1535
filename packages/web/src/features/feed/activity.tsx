import './feed.css';
import { type LoggedEvent, taskIdOf } from '@tidemill/contract';
import { memo } from 'react';
import { plainLine } from '../../plain.ts';
import { timeOf } from '../../words.ts';
import { useFeed } from './feed.ts';
import { sentenceOf } from './sentence.ts';
import { TaskName } from './task-name.tsx';

/** What happened, newest first: the last 50 events that are worth a line. */
export function Activity() {
  const events = useFeed();
  return (
    <section className="strip activity" aria-labelledby="activity">
      <h2 id="activity">What happened</h2>
      {events.length === 0 && <p className="dim">Nothing yet.</p>}
      <ol>
        {events.map((event) => (
          <Line key={event.seq} event={event} />
        ))}
      </ol>
    </section>
  );
}

const Line = memo(function Line({ event }: { event: LoggedEvent }) {
  const { who, text, look } = sentenceOf(event);
  const task = taskIdOf(event.body);
  return (
    <li data-seq={event.seq}>
      <time className="dim" dateTime={new Date(event.at).toISOString()}>
        {timeOf(event.at)}
      </time>
      <span className={look}>{plainLine(who)}</span>
      <span className="clamp">{task ? <TaskName id={task} text={plainLine(text)} /> : plainLine(text)}</span>
    </li>
  );
});
