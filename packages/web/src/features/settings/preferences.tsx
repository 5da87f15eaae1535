import { useQuery } from '@tanstack/react-query';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { plural } from '../../words.ts';
import { Part } from './part.tsx';

export function Preferences() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['preferences', project.id],
    queryFn: ({ signal }) => api.preferences({ project: project.id }, withTimeout(signal)),
  });
  return (
    <Part
      id="learned"
      title="Learned answers"
      about="Answers that you repeated or asked to keep. Tidemill reuses them until you revoke them."
      error={error}
    >
      {data?.length === 0 && <p className="dim">No learned answers yet.</p>}
      <ul className="rows">
        {data?.map(({ id, text, answer, count }) => (
          <li key={id}>
            <span>
              {plainLine(text)} <strong>{plainLine(answer)}</strong>{' '}
              <span className="dim">given {plural(count, 'time')}</span>
            </span>
            <Action
              act={() => api.revokePreference({ project: project.id, preference: id, by: 'page' })}
              done="You will be asked again"
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
