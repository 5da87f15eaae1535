import './idea.css';
import { IDEA_PHASES, type IdeaDetail, ideaRef } from '@tidemill/contract';
import { useLocation } from 'wouter';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { PageHead } from '../../shell/page-head.tsx';
import { PageLink, useTo } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { Chat } from './chat.tsx';
import { Signals } from './signals.tsx';
import { useIdea } from './use-idea.ts';

/** One idea: the conversation, and beside it what is settled. */
export default function IdeaPage({ number }: { number: number }) {
  const { data, error, isPending } = useIdea(number);
  useKeys([
    { keys: 'a', does: 'Write a message', run: () => document.querySelector<HTMLElement>('#message')?.focus() },
  ]);
  return (
    <>
      <PageHead
        title={
          <>
            <PageLink to="/ideas">Ideas</PageLink> <span className="number">{ideaRef(number)}</span>{' '}
            <span dir="auto">{plainLine(data?.idea.title ?? '')}</span>
          </>
        }
        about={data && <Standing detail={data} />}
      >
        {data && <Steering detail={data} />}
      </PageHead>
      <Failed error={error} />
      {isPending && <p className="dim">Loading…</p>}
      {data && (
        <>
          <Phases detail={data} />
          <div className="idea-page">
            <Chat detail={data} />
            <Signals idea={data.idea} />
          </div>
        </>
      )}
    </>
  );
}

function Standing({ detail: { idea, isRunning } }: { detail: IdeaDetail }) {
  return (
    <span className="row">
      <span className={idea.status === 'active' ? 'ideating' : idea.status === 'complete' ? 'landed' : 'paused'}>
        {idea.status}
      </span>
      {idea.forkedFrom && (
        <span>
          continues <PageLink to={`/ideas/${idea.forkedFrom.number}`}>{ideaRef(idea.forkedFrom.number)}</PageLink>
        </span>
      )}
      {!isRunning && <span className="waiting">Tidemill does not work on this project now, so nobody replies.</span>}
    </span>
  );
}

function Phases({ detail: { idea } }: { detail: IdeaDetail }) {
  const at = IDEA_PHASES.indexOf(idea.phase);
  return (
    <ol className="phases" aria-label="Phases">
      {IDEA_PHASES.map((phase, index) => (
        <li
          key={phase}
          className={index < at ? 'past' : index === at ? 'now' : ''}
          aria-current={index === at ? 'step' : undefined}
        >
          {phase.charAt(0) + phase.slice(1).toLowerCase()}
          {index < at && <span className="unseen"> (done)</span>}
        </li>
      ))}
    </ol>
  );
}

function Steering({ detail: { idea } }: { detail: IdeaDetail }) {
  const project = useProject();
  const [, go] = useLocation();
  const to = useTo();
  const about = { project: project.id, idea: String(idea.number), by: 'page' };
  const ref = ideaRef(idea.number);
  const fork = async () => {
    const { idea: other } = await api.forkIdea(about);
    go(to(`/ideas/${other.number}`));
  };
  const specify = async () => {
    const spec = await api.newSpec({ project: project.id, by: 'page', idea: idea.number });
    go(to(`/specs/${spec.number}`));
  };
  return (
    <>
      {idea.status === 'complete' && (
        <Action act={specify} className="primary">
          Write the specification
        </Action>
      )}
      {idea.status === 'active' && (
        <Action act={() => api.steerIdea({ ...about, to: 'pause' })} done={`${ref} paused`}>
          Pause
        </Action>
      )}
      {(idea.status === 'paused' || idea.status === 'archived') && (
        <Action act={() => api.steerIdea({ ...about, to: 'resume' })} done={`${ref} resumed`} className="primary">
          Resume
        </Action>
      )}
      <Action act={fork}>Fork</Action>
      {idea.status !== 'archived' && (
        <Action act={() => api.steerIdea({ ...about, to: 'archive' })} done={`${ref} archived; Resume brings it back`}>
          Archive
        </Action>
      )}
    </>
  );
}
