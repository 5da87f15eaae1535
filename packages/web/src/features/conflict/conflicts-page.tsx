import './conflict.css';
import { useQuery } from '@tanstack/react-query';
import { type ComingPair, type ConflictSummary, comingSentence } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { elapsed, useNow } from '../../time.ts';
import { plural } from '../../words.ts';
import { ConflictView } from './conflict-view.tsx';

export default function ConflictsPage({ number }: { number: number | null }) {
  return number === null ? <ConflictList /> : <ConflictView key={number} number={number} />;
}

function ConflictList() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['conflicts', project.id],
    queryFn: ({ signal }) => api.conflicts({ project: project.id }, withTimeout(signal)),
  });
  return (
    <>
      <PageHead
        title="Conflicts"
        about={`Changes that conflict with the newest ${project.rules.target} and need your decision.`}
      />
      {error && <p className="waiting">{errorText(error)}</p>}
      {!data && !error && <p className="dim">Loading…</p>}
      {data?.length === 0 && (
        <Empty>
          <p>No conflicts need you. Agents resolve small conflicts themselves, behind the same gates.</p>
        </Empty>
      )}
      <ol className="conflicts">
        {data?.map((conflict) => (
          <Row key={conflict.number} conflict={conflict} />
        ))}
      </ol>
      <ComingConflicts />
    </>
  );
}

/** Work that git cannot merge as it is. Nobody has to act: the smaller change is reworked when the larger has landed. */
function ComingConflicts() {
  const { project } = useShown();
  const { data } = useQuery({
    queryKey: ['conflicts', project.id, 'coming'],
    queryFn: ({ signal }) => api.comingConflicts({ project: project.id }, withTimeout(signal)),
  });
  if (!data || data.length === 0) return null;
  return (
    <section aria-labelledby="coming-conflicts">
      <h3 id="coming-conflicts">Coming conflicts</h3>
      <p className="dim">
        These changes cannot be merged as they are. They are not built at the same time, and the larger lands first.
      </p>
      <ol className="conflicts">
        {data.map((pair) => (
          <ComingRow key={`${pair.task.number} ${pair.with.number}`} pair={pair} target={project.rules.target} />
        ))}
      </ol>
    </section>
  );
}

function ComingRow({ pair: { task, with: other }, target }: { pair: ComingPair; target: string }) {
  const now = useNow();
  const titles = [task.title, ...(other.title === null ? [] : [other.title])];
  return (
    <li className="card">
      <p>
        <PageLink to={`/tasks/${task.number}`} data-item>
          #{task.number} {plainLine(comingSentence(other, target))}
        </PageLink>
      </p>
      <p className="dim clamp">{titles.map(plainLine).join(' · ')}</p>
      <p className="dim">foreseen for {elapsed(now - other.since)}</p>
    </li>
  );
}

function Row({ conflict: { number, title, files, since, status, why } }: { conflict: ConflictSummary }) {
  const now = useNow();
  return (
    <li className="card">
      <p className="title clamp">
        <PageLink to={`/conflicts/${number}`} data-item>
          #{number} {plainLine(title)}
        </PageLink>
      </p>
      <p className="row">
        <span className="waiting">{status}</span>
        <span>{plural(files.length, 'file')}</span>
        <span className="dim">waiting for {elapsed(now - since)}</span>
      </p>
      <p className="dim clamp">{files.map(plainLine).join(', ')}</p>
      <p className="dim clamp">{why}</p>
    </li>
  );
}
