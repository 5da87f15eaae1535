import { useQuery } from '@tanstack/react-query';
import type { AgentView } from '@tidemill/contract';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Command } from '../../shell/command.tsx';
import { useShown } from '../../shell/project.tsx';
import { Part } from './part.tsx';

const CAN: Record<keyof AgentView['can'], string> = {
  hooks: 'guards by hooks',
  cost: 'reports its cost',
  structuredOutput: 'structured results',
  resume: 'resumes sessions',
};

export function Agents() {
  const { project } = useShown();
  const { data, error, isPending } = useQuery({
    queryKey: ['agents', project.id],
    queryFn: ({ signal }) => api.agents({ project: project.id }, signal),
    staleTime: 60_000,
  });
  const found = data?.filter(({ installed }) => installed) ?? [];
  const missing = data?.filter(({ installed }) => !installed) ?? [];
  return (
    <Part id="agents" title="Agents" about="Known agents that are installed on this machine." error={error}>
      {isPending && <p className="dim">Checking versions…</p>}
      {data && found.length === 0 && <p>No known agent is installed. You can add any other agent in the config.</p>}
      <ul className="tiles">
        {found.map((agent) => (
          <Found key={agent.name} agent={agent} />
        ))}
      </ul>
      {missing.length > 0 && <h4>Not installed or too old</h4>}
      <ul className="rows">
        {missing.map(({ name, where }) => (
          <li key={name}>
            <strong>{name}</strong>
            <Command text={where} />
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Found({ agent: { name, answers, version, where, can, config } }: { agent: AgentView }) {
  const skills = (Object.keys(CAN) as (keyof AgentView['can'])[]).filter((skill) => can[skill]);
  return (
    <li className="card">
      <h4>{name}</h4>
      <p className={answers ? 'working' : 'waiting'}>
        {answers ? plainLine(version ?? 'installed') : 'installed, version unknown'}
      </p>
      <p className="dim">{plainLine(where)}</p>
      {skills.length > 0 && <p className="dim">{skills.map((skill) => CAN[skill]).join(', ')}</p>}
      <p className="dim">
        In the config:{' '}
        <code>{`{ ${Object.entries(config)
          .map(([key, value]) => `${key}: ${value}`)
          .join(', ')} }`}</code>
      </p>
    </li>
  );
}
