import { useQuery } from '@tanstack/react-query';
import { type IdeaDetail, replyInOutput } from '@tidemill/contract';
import { useEffect, useRef, useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { useEvents, useRunOutput } from '../../shell/live.ts';
import { useProject } from '../../shell/project.tsx';

/** More of a run's output is not a reply. */
const LONGEST = 200_000;

/** An idea with its conversation, kept up to date. */
export function useIdea(number: number) {
  const project = useProject();
  return useQuery({
    queryKey: ['idea', project.id, number],
    queryFn: ({ signal }) => api.idea({ project: project.id, idea: String(number) }, withTimeout(signal)),
  });
}

/** The reply that is being written now: null when there is none, empty before its first word. */
export function useReply({ idea, messages, runId }: IdeaDetail): string | null {
  const [started, setStarted] = useState<string | null>(null);
  // The event comes before the data of the page is fetched again.
  useEvents((events) => {
    for (const { body } of events)
      if (body.type === 'run.started' && body.subjectId === idea.id) setStarted(body.runId);
  });
  const run = started ?? runId;
  const isOver = messages.some((message) => message.runId !== null && message.runId === run);
  const followed = run !== null && !isOver ? run : null;
  const output = useRef({ run: '', text: '' });
  const [reply, setReply] = useState('');
  useEffect(() => {
    output.current = { run: followed ?? '', text: '' };
    setReply('');
  }, [followed]);
  useRunOutput(followed, 0, ({ text }) => {
    if (output.current.text.length > LONGEST) return;
    output.current.text += text;
    setReply(replyInOutput(output.current.text));
  });
  return idea.jobId === null || isOver ? null : reply;
}
