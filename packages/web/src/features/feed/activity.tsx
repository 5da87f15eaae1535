import './feed.css';
import { useQuery } from '@tanstack/react-query';
import { type LoggedEvent, subjectIdOf } from '@tidemill/contract';
import { memo, useEffect } from 'react';
import { api, soon } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useProject } from '../../shell/project.tsx';
import { timeOf } from '../../words.ts';
import { feed, useFeed } from './feed.ts';
import { sentenceOf } from './sentence.ts';
import { TaskName } from './task-name.tsx';

/** Of these, those that are worth a line. */
const READ = 200;

/** What happened, newest first: the last 50 events that are worth a line. */
export const Activity = memo(function Activity() {
  const { id } = useProject();
  const events = useFeed(id);
  const past = useQuery({
    queryKey: ['feed', id],
    queryFn: async ({ signal, client }) => {
      const events = await api.recentEvents({ project: id, limit: READ }, soon(signal));
      // What they tell of names need not be asked for, one by one.
      for (const { body } of events)
        if (body.type === 'task.created')
          client.setQueryData(['task-name', body.taskId], { number: body.number, title: body.title });
      return events;
    },
    // From here on it comes by itself; whoever comes back later reads it anew.
    staleTime: 'static',
    gcTime: 0,
  });
  useEffect(() => {
    if (past.data) feed.add(id, past.data);
  }, [id, past.data]);
  return (
    <section className="strip activity" aria-labelledby="activity">
      <h2 id="activity">What happened</h2>
      <Failed error={past.error} />
      {events.length === 0 && !past.error && <p className="dim">{past.isPending ? 'Reading…' : 'Nothing yet.'}</p>}
      <ol>
        {events.map((event) => (
          <Line key={event.seq} event={event} />
        ))}
      </ol>
    </section>
  );
});

const Line = memo(function Line({ event }: { event: LoggedEvent }) {
  const { who, text: said, look } = sentenceOf(event);
  const text = plainLine(said.replace(/\s*\n\s*/g, ' '));
  const task = subjectIdOf(event.body);
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
