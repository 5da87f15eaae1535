import { useQuery } from '@tanstack/react-query';
import { api, soon } from '../../api.ts';
import { Action } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { Part } from './part.tsx';

export function Preferences() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['preferences', project.id],
    queryFn: ({ signal }) => api.preferences({ project: project.id }, soon(signal)),
  });
  return (
    <Part id="learned" title="Learned answers" about="Given again by themselves, until you revoke them." error={error}>
      {data?.length === 0 && <p className="dim">Nothing learned yet.</p>}
      <ul className="rows">
        {data?.map(({ id, text, answer, count }) => (
          <li key={id}>
            <span>
              {text} <strong>{answer}</strong> <span className="dim">{count} times</span>
            </span>
            <Action
              act={() => api.revokePreference({ project: project.id, preference: id, by: 'page' })}
              done="It will be asked again"
              label={`Revoke the answer to: ${text}`}
            >
              Revoke
            </Action>
          </li>
        ))}
      </ul>
    </Part>
  );
}
