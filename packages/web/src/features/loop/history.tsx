import { useQuery } from '@tanstack/react-query';
import type { ProposalView } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { TaskLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { Scoring } from './proposal-decision.tsx';

/** Proposals that were decided, on demand. */
export function History() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="loop-part" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Earlier proposals</summary>
      {isOpen && <Earlier />}
    </details>
  );
}

function Earlier() {
  const project = useProject();
  const { data, error, isPending } = useQuery({
    queryKey: ['proposals', project.id],
    queryFn: ({ signal }) => api.proposals({ project: project.id, limit: 100 }, withTimeout(signal)),
  });
  const decided = data?.filter(({ status }) => status !== 'waiting' && status !== 'checking');
  return (
    <>
      <Failed error={error} />
      {isPending && <p className="dim">Loading…</p>}
      {decided?.length === 0 && <p className="dim">There are none yet.</p>}
      <ul className="earlier">
        {decided?.map((proposal) => (
          <Line key={proposal.id} proposal={proposal} />
        ))}
      </ul>
    </>
  );
}

function Line({ proposal }: { proposal: ProposalView }) {
  const { number, category, draft, status, outcome, why, task, score } = proposal;
  return (
    <li className="row">
      <span className="dim">{number}</span>
      <span dir="auto">{plainLine(draft.title)}</span>
      <span className="dim">{plainLine(category)}</span>
      <span className={outcome === 'landed' ? 'landed' : 'dim'}>{outcome ?? status}</span>
      {task && <TaskLink number={task.number} />}
      {why && <span className="dim">{plainLine(why)}</span>}
      <Scoring number={number} score={score} />
    </li>
  );
}
