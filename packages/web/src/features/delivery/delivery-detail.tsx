import { useQuery } from '@tanstack/react-query';
import type { DeliveryStep, DeliveryView } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { isRecordNumber, OneRecord } from '../../shell/one-record.tsx';
import { PageHead } from '../../shell/page-head.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { elapsed } from '../../time.ts';
import { stageText, timeOf } from '../../words.ts';
import { Approval, OpenQuestion, Tasks } from './parts.tsx';
import { Status } from './status.tsx';

/** One delivery with its evidence. */
export function DeliveryDetail({ number }: { number: number }) {
  const { project } = useShown();
  const query = useQuery({
    queryKey: ['delivery', project.id, number],
    queryFn: ({ signal }) => api.delivery({ project: project.id, delivery: number }, withTimeout(signal)),
    enabled: isRecordNumber(number),
  });
  return (
    <OneRecord number={number} query={query} words={WORDS}>
      {(delivery) => <Known delivery={delivery} />}
    </OneRecord>
  );
}

const WORDS = {
  letter: 'D',
  name: 'Delivery',
  bad: 'This is not the number of a delivery.',
  to: '/delivery',
  all: 'Show the environments',
};

function Known({ delivery }: { delivery: DeliveryView }) {
  const { ref, environment, status, why, tasks, taskCount, evidence, unproven, steps } = delivery;
  return (
    <article className="delivery">
      <PageHead title={`${ref} to ${environment}`} about={<Status status={status} />} />
      <RoleNote what="Approving and answering" />
      {why && <p dir="auto">{plainLine(why)}</p>}
      <Approval delivery={delivery} />
      <OpenQuestion delivery={delivery} />
      <Facts delivery={delivery} />
      <section aria-labelledby="delivered-tasks">
        <h3 id="delivered-tasks">What it brings</h3>
        <Tasks tasks={tasks} count={taskCount} isOpen />
      </section>
      <section aria-labelledby="delivery-evidence">
        <h3 id="delivery-evidence">Evidence</h3>
        {evidence.length + unproven.length === 0 && <p className="dim">No gate has passed on this commit.</p>}
        <ul>
          {evidence.map(({ gate, hash, counts }) => (
            <li key={gate}>
              <span className="landed">{gate}</span> {counts && `${counts.passed} passed, `}
              <code>{hash.slice(0, 16)}</code>
            </li>
          ))}
          {unproven.map((gate) => (
            <li key={gate}>
              <span className="waiting">{gate}</span>{' '}
              {delivery.endedAt === null ? 'runs before anything else' : 'not passed'}
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="delivery-steps">
        <h3 id="delivery-steps">Steps</h3>
        {steps.length === 0 && <p className="dim">Nothing was run yet.</p>}
        <ol className="delivery-steps">
          {steps.map((step) => (
            <Step key={step.startedAt + step.name} step={step} />
          ))}
        </ol>
      </section>
      <Output delivery={delivery} />
    </article>
  );
}

function Facts({ delivery }: { delivery: DeliveryView }) {
  const { commit, by, requestedAt, approved, override, previous, startedAt, endedAt } = delivery;
  return (
    <dl className="delivery-facts">
      <dt>Commit</dt>
      <dd>
        <code>{commit}</code>
      </dd>
      {previous && (
        <>
          <dt>Before it</dt>
          <dd>
            <code>{previous.commit.slice(0, 10)}</code>{' '}
            <PageLink to={`/delivery/${previous.number}`}>D{previous.number}</PageLink>
          </dd>
        </>
      )}
      <dt>Requested</dt>
      <dd>
        {plainLine(by.name)}, {timeOf(requestedAt)}
      </dd>
      {approved && (
        <>
          <dt>Approved</dt>
          <dd>
            {plainLine(approved.by.name)}, {timeOf(approved.at)}
          </dd>
        </>
      )}
      {override && (
        <>
          <dt>Overridden</dt>
          <dd dir="auto">
            {plainLine(override.by.name)}: {plainLine(override.why)}
          </dd>
        </>
      )}
      {startedAt !== null && endedAt !== null && (
        <>
          <dt>Took</dt>
          <dd>{elapsed(endedAt - startedAt)}</dd>
        </>
      )}
    </dl>
  );
}

const LOOK: Record<DeliveryStep['result'], string> = {
  running: 'working',
  passed: 'landed',
  failed: 'failed',
  timed_out: 'failed',
  stopped: 'stopped',
  not_started: 'failed',
  interrupted: 'crashed',
};

function Step({ step: { kind, name, result, note } }: { step: DeliveryStep }) {
  return (
    <li>
      <span className={LOOK[result]}>{stageText(result)}</span> {stageText(kind)}: <code>{plainLine(name)}</code>
      {note && <span className="dim"> {plainLine(note)}</span>}
    </li>
  );
}

function Output({ delivery: { id, steps } }: { delivery: DeliveryView }) {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['delivery', project.id, id, 'log', steps.length, steps.at(-1)?.result],
    queryFn: ({ signal }) =>
      api.deliveryLog({ project: project.id, delivery: id, maxBytes: 200_000 }, withTimeout(signal)),
  });
  return (
    <details className="delivery-output">
      <summary>Output</summary>
      <Failed error={error} />
      {data?.isCut && <p className="dim">The beginning is left out.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{plain(data?.text ?? '') || 'No output yet'}</pre>
    </details>
  );
}
