import { useQuery } from '@tanstack/react-query';
import type { AgentView } from '@tidemill/contract';
import { api } from '../../api.ts';
import { Command } from '../../shell/command.tsx';
import { useShown } from '../../shell/project.tsx';
import { Part } from './part.tsx';

const CAN: Record<keyof AgentView['can'], string> = {
  hooks: 'guards by hooks',
  cost: 'tells its cost',
  structuredOutput: 'structured results',
  resume: 'goes on with a session',
};

export function Agents() {
  const { project } = useShown();
  const { data, error, isPending } = useQuery({
    queryKey: ['agents', project.id],
    queryFn: ({ signal }) => api.agents({ project: project.id }, signal),
    staleTime: 60_000,
  });
  return (
    <Part id="agents" title="Agents on this machine" error={error}>
      {isPending && <p className="dim">Asking each for its version…</p>}
      <ul className="tiles">
        {data?.map((agent) => (
          <li key={agent.name} className="card">
            <h4>{agent.name}</h4>
            <p className={agent.installed ? (agent.answers ? 'working' : 'waiting') : 'paused'}>
              {agent.installed ? (agent.answers ? (agent.version ?? 'answers') : 'does not answer') : 'not installed'}
            </p>
            {agent.installed ? <p className="dim">{agent.where}</p> : <Command text={agent.where} />}
            <p className="dim">
              {(Object.keys(CAN) as (keyof AgentView['can'])[])
                .filter((name) => agent.can[name])
                .map((name) => CAN[name])
                .join(', ')}
            </p>
            <p>
              <code>{JSON.stringify(agent.config)}</code>
            </p>
          </li>
        ))}
      </ul>
    </Part>
  );
}
