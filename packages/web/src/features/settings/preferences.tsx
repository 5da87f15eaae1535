import { useQuery } from '@tanstack/react-query';
import { api, soon } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { plural } from '../../words.ts';
import { Part } from './part.tsx';

export function Preferences() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['preferences', project.id],
    queryFn: ({ signal }) => api.preferences({ project: project.id }, soon(signal)),
  });
  return (
    <Part
      id="learned"
      title="Learned answers"
      about="What you answered the same way, or asked to be kept, is given again by itself until you revoke it."
      error={error}
    >
      {data?.length === 0 && <p className="dim">Nothing learned yet.</p>}
      <ul className="rows">
        {data?.map(({ id, text, answer, count }) => (
          <li key={id}>
            <span>
              {plainLine(text)} <strong>{plainLine(answer)}</strong>{' '}
              <span className="dim">given {plural(count, 'time')}</span>
            </span>
            <Action
              act={() => api.revokePreference({ project: project.id, preference: id, by: 'page' })}
              done="It will be asked again"
              label={`Revoke the answer to: ${plainLine(text)}`}
            >
              Revoke
            </Action>
          </li>
        ))}
      </ul>
    </Part>
  );
}
