import { useQuery } from '@tanstack/react-query';
import { api, soon } from '../../api.ts';
import { Action } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';
import { Part } from './part.tsx';

export function Channels() {
  const { project } = useShown();
  const now = useNow();
  const { data, error } = useQuery({
    queryKey: ['channels', project.id],
    queryFn: ({ signal }) => api.channels({ project: project.id }, soon(signal)),
  });
  return (
    <Part id="channels" title="Channels" about="Where you are told what needs you, and can answer." error={error}>
      {data?.length === 0 && <p className="dim">None yet. Add one under `channels` in the config above.</p>}
      <ul className="tiles">
        {data?.map(({ name, type, target, answers, pending, lastDeliveredAt, lastError }) => (
          <li key={name} className="card">
            <h4>
              {name} <span className="dim">{type}</span>
            </h4>
            <p className="dim">{target}</p>
            <p className={lastError ? 'crashed' : 'working'}>
              {lastError ??
                (lastDeliveredAt === null
                  ? 'nothing sent yet'
                  : `last delivered ${elapsed(now - lastDeliveredAt)} ago`)}
            </p>
            <p className="dim">
              {answers ? 'takes answers' : 'takes no answers'}, {pending} waiting
            </p>
            <Action
              act={() => api.testChannel({ project: project.id, channel: name })}
              done={`A test message went to ${name}`}
              label={`Test ${name}`}
            >
              Send a test
            </Action>
          </li>
        ))}
      </ul>
    </Part>
  );
}
