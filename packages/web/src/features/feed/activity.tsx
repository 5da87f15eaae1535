import './feed.css';
import { useQuery } from '@tanstack/react-query';
import { type LoggedEvent, taskIdOf } from '@tidemill/contract';
import { memo, useEffect } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useProject } from '../../shell/project.tsx';
import { timeOf } from '../../words.ts';
import { feed, useFeed } from './feed.ts';
import { sentenceOf } from './sentence.ts';
import { TaskName } from './task-name.tsx';

/** Events to load; some of them are not shown. */
const READ = 200;

/** The last 50 events worth showing, newest first. */
export const Activity = memo(function Activity() {
  const { id } = useProject();
  const events = useFeed(id);
  const past = useQuery({
    queryKey: ['feed', id],
    queryFn: async ({ signal, client }) => {
      const events = await api.recentEvents({ project: id, limit: READ }, withTimeout(signal));
      // Take task names from the events, which saves a request for each task.
      for (const { body } of events)
        if (body.type === 'task.created')
          client.setQueryData(['task-name', body.taskId], { number: body.number, title: body.title });
      return events;
    },
    // Later events come by the stream. The page loads them again when it is reopened.
    staleTime: 'static',
    gcTime: 0,
  });
  useEffect(() => {
    if (past.data) feed.add(id, past.data);
  }, [id, past.data]);
  return (
    <section className="strip activity" aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      <Failed error={past.error} />
      {events.length === 0 && !past.error && <p className="dim">{past.isPending ? 'Loading…' : 'No activity yet.'}</p>}
      <ol>
        {events.map((event) => (
          <Line key={event.seq} event={event} />
        ))}
      </ol>
    </section>
  );
});

const Line = memo(function Line({ event }: { event: LoggedEvent }) {
  const { who, text: sentence, look } = sentenceOf(event);
  const text = plainLine(sentence.replace(/\s*\n\s*/g, ' '));
  const task = taskIdOf(event.body);
  return (
    <li data-seq={event.seq}>
      <time className="dim" dateTime={new Date(event.at).toISOString()}>
        {timeOf(event.at)}
      </time>
      <span className={look}>{plainLine(who)}</span>
      <span className="clamp">{task ? <TaskName id={task} text={text} /> : text}</span>
    </li>
  );
});
