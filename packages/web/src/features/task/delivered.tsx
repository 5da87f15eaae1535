import { useQuery } from '@tanstack/react-query';
import { api, withTimeout } from '../../api.ts';
import { Failed } from '../../shell/failed.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { Status } from '../delivery/status.tsx';

/** Where the landed task was delivered to: the newest delivery with it, per environment. */
export function Delivered({ number }: { number: number }) {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['deliveries', project.id, number],
    queryFn: ({ signal }) => api.deliveries({ project: project.id, task: number }, withTimeout(signal)),
    enabled: (project.rules.delivery ?? []).length > 0,
  });
  const newest = data?.filter(
    ({ environment }, index) => data.findIndex((other) => other.environment === environment) === index,
  );
  if (error) return <Failed error={error} />;
  if (!newest || newest.length === 0) return null;
  return (
    <ul className="row" aria-label="Deliveries">
      {newest.map((delivery) => (
        <li key={delivery.id}>
          <PageLink to={`/delivery/${delivery.number}`}>
            {delivery.environment} {delivery.ref}
          </PageLink>{' '}
          <Status status={delivery.status} />
        </li>
      ))}
    </ul>
  );
}
