import './conflict.css';
import { useQuery } from '@tanstack/react-query';
import type { ConflictSummary } from '@tidemill/contract';
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
    </>
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
