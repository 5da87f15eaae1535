import type { DeliveryView, EnvironmentView } from '@tidemill/contract';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';
import { useElapsed } from '../../time.ts';
import { plural } from '../../words.ts';
import { Approval, OpenQuestion, Tasks } from './parts.tsx';
import { State, Status, short } from './status.tsx';

const WHEN = {
  task: 'after each landing',
  spec: 'after a finished specification',
  manual: 'only by hand',
} as const;
const APPROVE = {
  automated: 'without approval',
  notify_and_proceed: 'you are told',
  requires_approval: 'you approve',
} as const;

/** An environment: what is live, what is on its way or waits for you, and what could come next. */
export function EnvironmentCard({ environment }: { environment: EnvironmentView }) {
  const { name, live, state, current, waiting, next, after, when, approve, isGone } = environment;
  return (
    <li className="card environment" aria-label={name}>
      <header>
        <h3>{name}</h3>
        <State state={state} />
      </header>
      <Live live={live} state={state} />
      {isGone ? (
        <p className="dim">No longer in the settings.</p>
      ) : (
        <p className="dim">
          {[after ? `after ${after}` : '', WHEN[when], APPROVE[approve]].filter(Boolean).join(', ')}
        </p>
      )}
      {current && <OnItsWay delivery={current} />}
      {waiting && <OnItsWay delivery={waiting} />}
      {!isGone && <Deeds environment={environment} />}
      {next && !waiting && !current && <Tasks tasks={next.tasks} count={next.taskCount} />}
    </li>
  );
}

function Live({ live, state }: Pick<EnvironmentView, 'live' | 'state'>) {
  if (!live) return null;
  return (
    <p>
      {state === 'unknown' && 'last healthy: '}
      <code>{short(live.commit)}</code> {state === 'healthy' && <Since at={live.since} />}{' '}
      <PageLink to={`/delivery/${live.number}`}>D{live.number}</PageLink>
    </p>
  );
}

function Since({ at }: { at: number }) {
  const age = useElapsed(at);
  return <span className="dim">for {age}</span>;
}

function OnItsWay({ delivery }: { delivery: DeliveryView }) {
  const project = useProject();
  const { id, ref, number, commit, status, why, tasks, taskCount, endedAt, environment } = delivery;
  const isRunning = ['running', 'checking', 'rolling_back', 'requested'].includes(status);
  return (
    <section className="on-its-way" aria-label={ref} data-delivery>
      <p className="row">
        <PageLink to={`/delivery/${number}`}>{ref}</PageLink> <Status status={status} /> <code>{short(commit)}</code>
      </p>
      {why && isRunning && <p dir="auto">{plainLine(why)}</p>}
      <Approval delivery={delivery} />
      <OpenQuestion delivery={delivery} />
      {endedAt === null && <Tasks tasks={tasks} count={taskCount} />}
      {isRunning && (
        <Action
          act={() => api.stopDelivery({ project: project.id, delivery: id, by: 'page' })}
          done={`${ref} is being stopped`}
          confirm={{
            title: `Stop ${ref}?`,
            text:
              status === 'requested'
                ? `Nothing was run. ${environment} stays as it is.`
                : `Its commands are ended, and ${environment} goes back to the last healthy commit.`,
            yes: 'Stop',
          }}
        >
          Stop
        </Action>
      )}
    </section>
  );
}

function Deeds({ environment: { name, live, next, current, waiting, state } }: { environment: EnvironmentView }) {
  const project = useProject();
  const about = { project: project.id, environment: name, by: 'page' };
  return (
    <p className="row">
      {next && !current && !waiting && (
        <Action act={() => api.deliver({ ...about, commit: next.commit })} done={`Delivery to ${name} requested`}>
          Deliver {short(next.commit)}
        </Action>
      )}
      {live && !current && (
        <Action
          act={() => api.rollBack(about)}
          done={`${name} is being rolled back`}
          confirm={{
            title: `Roll ${name} back?`,
            text: `This takes ${short(live.commit)} (D${live.number}) away from ${name}${
              state === 'healthy' ? '' : ', whatever is there now'
            }, and delivers the commit that was healthy before it. Landed tasks stay landed.${
              waiting ? ` ${waiting.ref} is replaced.` : ''
            }`,
            yes: 'Roll back',
          }}
        >
          Roll back
        </Action>
      )}
      {!next && !current && !waiting && live && <span className="dim">Up to date</span>}
      {next && !current && !waiting && <span className="dim">{plural(next.taskCount, 'task')} ready</span>}
    </p>
  );
}
