import './idea.css';
import { useQuery } from '@tanstack/react-query';
import { type IdeaSummary, ideaRef } from '@tidemill/contract';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { PageLink, useTo } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { useElapsed } from '../../time.ts';
import { percent, plural } from '../../words.ts';
import { Composer } from './composer.tsx';

/** All conversations about ideas, and the place to begin one. */
export default function IdeasPage() {
  const project = useProject();
  const [all, setAll] = useState(false);
  const [, go] = useLocation();
  const to = useTo();
  const ideas = useQuery({
    queryKey: ['ideas', project.id, all],
    queryFn: ({ signal }) => api.ideas({ project: project.id, all }, withTimeout(signal)),
  });
  useKeys([{ keys: 'n', does: 'Start an idea', run: () => document.querySelector<HTMLElement>('#new-idea')?.focus() }]);
  const start = async (text: string) => {
    const { idea } = await api.createIdea({ project: project.id, text, by: 'page' });
    go(to(`/ideas/${idea.number}`));
  };
  return (
    <>
      <PageHead title="Ideas" about="Talk about an idea until it is clear enough to specify.">
        <button type="button" className="quiet" aria-pressed={all} onClick={() => setAll(!all)}>
          Show archived
        </button>
      </PageHead>
      <RoleNote what="Talking" />
      <Composer
        id="new-idea"
        draftKey={`idea/new/${project.id}`}
        label="What do you have in mind?"
        yes="Start"
        send={start}
      />
      <Failed error={ideas.error} />
      {ideas.isPending && <p className="dim">Loading…</p>}
      {ideas.data?.length === 0 && (
        <Empty>
          <p>No ideas yet. Write the first one above.</p>
        </Empty>
      )}
      <ol className="ideas">
        {ideas.data?.map((idea) => (
          <Line key={idea.id} idea={idea} />
        ))}
      </ol>
    </>
  );
}

function Line({ idea }: { idea: IdeaSummary }) {
  const { number, title, phase, status, confidence, questions, isReplying, failure, changedAt, messageCount } = idea;
  const ago = useElapsed(changedAt);
  return (
    <li className="card idea-line">
      <PageLink to={`/ideas/${number}`} className="idea-name" data-item>
        <span className="number">{ideaRef(number)}</span>{' '}
        <span className="title" dir="auto">
          {plainLine(title)}
        </span>
      </PageLink>
      <p className="row dim">
        <span className={status === 'active' ? 'ideating' : status === 'complete' ? 'landed' : 'paused'}>
          {status === 'active' ? phase.toLowerCase() : status}
        </span>
        {isReplying && <span className="working">replying</span>}
        {questions > 0 && <span className="waiting">{plural(questions, 'question')} for you</span>}
        {failure && <span className="failed">no reply</span>}
        <span>{percent(confidence)} sure</span>
        <span>{plural(messageCount, 'message')}</span>
        <span>{ago} ago</span>
      </p>
    </li>
  );
}
