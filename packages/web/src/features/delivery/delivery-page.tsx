import './delivery.css';
import { useQuery } from '@tanstack/react-query';
import type { DeliveryView } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { useElapsed } from '../../time.ts';
import { plural } from '../../words.ts';
import { DeliveryDetail } from './delivery-detail.tsx';
import { EnvironmentCard } from './environment-card.tsx';
import { Status, short } from './status.tsx';

export default function DeliveryPage({ number }: { number: number | null }) {
  return number === null ? <Environments /> : <DeliveryDetail key={number} number={number} />;
}

function Environments() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['environments', project.id],
    queryFn: ({ signal }) => api.environments({ project: project.id }, withTimeout(signal)),
  });
  useKeys([{ keys: 'y', does: 'Approve the first delivery that waits', run: approveFirst }]);
  return (
    <>
      <PageHead title="Delivery" about="What is live in each environment, and what waits for you." />
      <RoleNote what="Delivering, approving and rolling back" />
      <Failed error={error} />
      {!data && !error && <p className="dim">Loading…</p>}
      {data?.length === 0 && (
        <Empty>
          <p>
            No environments yet. Add them to <code>delivery</code> in the config, with their commands and health checks.
          </p>
        </Empty>
      )}
      <ol className="environments" aria-label="Environments">
        {data?.map((environment) => (
          <EnvironmentCard key={environment.name} environment={environment} />
        ))}
      </ol>
      {data && data.length > 0 && <Past />}
    </>
  );
}

function approveFirst(): void {
  const within = document.activeElement?.closest('[data-delivery]') ?? document.querySelector('.environments');
  within?.querySelector<HTMLButtonElement>('[data-key="yes"]')?.click();
}

function Past() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['deliveries', project.id],
    queryFn: ({ signal }) => api.deliveries({ project: project.id, limit: 50 }, withTimeout(signal)),
  });
  return (
    <section className="deliveries" aria-labelledby="deliveries-title">
      <h3 id="deliveries-title">History</h3>
      <Failed error={error} />
      {data?.length === 0 && <p className="dim">Nothing was delivered yet.</p>}
      <ol aria-label="Deliveries">
        {data?.map((delivery) => (
          <Row key={delivery.id} delivery={delivery} />
        ))}
      </ol>
    </section>
  );
}

function Row({ delivery }: { delivery: DeliveryView }) {
  const { number, ref, environment, commit, status, why, taskCount, requestedAt } = delivery;
  const age = useElapsed(requestedAt);
  return (
    <li>
      <p className="row">
        <PageLink to={`/delivery/${number}`} data-item>
          {ref} {environment}
        </PageLink>
        <Status status={status} />
        <code>{short(commit)}</code>
        <span className="dim">
          {plural(taskCount, 'task')}, {age} ago
        </span>
      </p>
      {why && (
        <p className="dim clamp" dir="auto">
          {plainLine(why)}
        </p>
      )}
    </li>
  );
}
