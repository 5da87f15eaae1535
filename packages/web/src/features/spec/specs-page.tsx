import './spec.css';
import { useQuery } from '@tanstack/react-query';
import { type SpecSummary, TargetComplexity } from '@tidemill/contract';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { PageLink, useTo } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { useElapsed } from '../../time.ts';
import { plural } from '../../words.ts';
import { lookOf } from './standing.ts';

/** All specifications, and the place to request one. */
export default function SpecsPage() {
  const project = useProject();
  const [isAsking, ask] = useState(false);
  const specs = useQuery({
    queryKey: ['specs', project.id],
    queryFn: ({ signal }) => api.specs({ project: project.id }, withTimeout(signal)),
  });
  useKeys([{ keys: 'n', does: 'Request a specification', run: () => ask(true) }]);
  return (
    <>
      <PageHead title="Specs" about="What is to be built, before tasks are made of it.">
        <button type="button" className="primary" aria-keyshortcuts="n" onClick={() => ask(true)}>
          New specification
        </button>
      </PageHead>
      <RoleNote what="Requesting" />
      <Failed error={specs.error} />
      {specs.isPending && <p className="dim">Loading…</p>}
      {specs.data?.length === 0 && (
        <Empty>
          <p>No specifications yet. Write what you want, and an agent turns it into requirements and tasks.</p>
          <p>
            You can also write one by hand: <code>tidemill spec import spec.md tasks.md</code>
          </p>
        </Empty>
      )}
      <ol className="specs">
        {specs.data?.map((spec) => (
          <Line key={spec.id} spec={spec} />
        ))}
      </ol>
      {isAsking && <NewSpec onClose={() => ask(false)} />}
    </>
  );
}

function Line({ spec }: { spec: SpecSummary }) {
  const { number, title, status, version, tasks, done, questions, why, createdAt } = spec;
  const ago = useElapsed(createdAt);
  return (
    <li className="card spec-line">
      <PageLink to={`/specs/${number}`} className="spec-name" data-item>
        <span className="number">S{number}</span>{' '}
        <span className="title" dir="auto">
          {plainLine(title)}
        </span>
      </PageLink>
      <p className="row dim">
        <span className={lookOf(status)}>{status}</span>
        {version > 0 && <span>version {version}</span>}
        {tasks > 0 && (
          <span>
            {done} of {plural(tasks, 'task')} done
          </span>
        )}
        {questions > 0 && <span className="waiting">{plural(questions, 'question')} for you</span>}
        <span>{ago} ago</span>
      </p>
      {why && <p className="dim clamp">{plainLine(why)}</p>}
    </li>
  );
}

function NewSpec({ onClose }: { onClose: () => void }) {
  const project = useProject();
  const [text, setText] = useState('');
  const [size, setSize] = useState('');
  const [, go] = useLocation();
  const to = useTo();
  const send = async () => {
    const { number } = await api.newSpec({
      ...{ project: project.id, by: 'page', text },
      ...(size === '' ? {} : { targetComplexity: TargetComplexity.parse(size) }),
    });
    go(to(`/specs/${number}`));
  };
  return (
    <FormDialog
      title="New specification"
      onClose={onClose}
      send={send}
      done="An agent writes the specification."
      yes="Request"
      isReady={text.trim() !== ''}
      isWide
    >
      <label>
        What should be built?
        <textarea rows={8} dir="auto" value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <label>
        How much of it?
        <select value={size} onChange={(event) => setSize(event.target.value)}>
          <option value="">The agent decides</option>
          <option value="mvp">The smallest version that someone can use</option>
          <option value="full">Everything that belongs to it</option>
        </select>
      </label>
      <p className="dim">
        An agent reads the code and writes requirements and tasks. Nothing is built before you approve.
      </p>
    </FormDialog>
  );
}
