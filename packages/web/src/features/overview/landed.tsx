import { useQuery } from '@tanstack/react-query';
import type { ProjectStatus } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { TaskLink } from '../../shell/page-link.tsx';
import { useElapsed } from '../../time.ts';
import { useLanded } from '../project/queries.ts';

type Landing = NonNullable<ReturnType<typeof useLanded>['data']>[number];

export function Landed({ status }: { status: ProjectStatus }) {
  const { data: landings, error, isPending } = useLanded(status.project.id);
  return (
    <section className="strip" aria-labelledby="landed">
      <h2 id="landed">Landed on {status.project.target}</h2>
      {!landings && <Failed error={error} />}
      {isPending && <p className="dim">Loading…</p>}
      {landings?.length === 0 && <p className="dim">Nothing yet. Changes that pass every gate appear here.</p>}
      <ol>
        {landings?.map((landing) => (
          <LandedTask key={landing.commit} project={status.project.id} landing={landing} />
        ))}
      </ol>
    </section>
  );
}

function LandedTask({ project, landing: { taskId, commit, tree, at } }: { project: string; landing: Landing }) {
  const ago = useElapsed(at);
  const { data } = useQuery({
    queryKey: ['landed-task', project, commit],
    queryFn: ({ signal }) => api.task({ project, task: taskId }, withTimeout(signal)),
    // A landed task does not change.
    staleTime: 'static',
  });
  // The newest receipt for the landed tree, which the commit's trailer names.
  const proof = data?.evidence.filter((link) => link.tree === tree).at(-1);
  return (
    <li>
      <p className="title clamp">
        {data && <TaskLink number={data.task.number} data-item />} {data && plainLine(data.task.title)}
      </p>
      <p className="row dim">
        <span>
          commit <code title={commit}>{commit.slice(0, 10)}</code>
        </span>
        {proof && (
          <span>
            evidence <code title={proof.hash}>{proof.hash.slice(0, 10)}</code>
          </span>
        )}
        <time dateTime={new Date(at).toISOString()}>{ago} ago</time>
      </p>
    </li>
  );
}
