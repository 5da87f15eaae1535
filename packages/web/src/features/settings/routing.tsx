import { useQuery } from '@tanstack/react-query';
import type { EventRouteRow } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { useShown } from '../../shell/project.tsx';
import { ScrollBox } from '../../shell/scroll-box.tsx';
import { Part } from './part.tsx';

/** Which role reacts to which event. */
export function Routing() {
  const { project } = useShown();
  const { data, error } = useQuery({
    // The rules are part of the key: a changed config shows other choices.
    queryKey: ['routing', project.id, project.rules.routing],
    queryFn: ({ signal }) => api.routing({ project: project.id }, withTimeout(signal)),
  });
  return (
    <Part
      id="routing"
      title="Routing"
      error={error}
      about={
        <>
          Who acts on what. Where there is a choice, set it under <code>routing</code> in the config.
        </>
      }
    >
      <ScrollBox label="Routing">
        <table className="routing">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">Who</th>
              <th scope="col">What follows</th>
              <th scope="col">Setting</th>
            </tr>
          </thead>
          <tbody>
            {data?.map((row) => (
              <Row key={row.event} row={row} />
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Part>
  );
}

function Row({ row: { event, role, does, choices, chosen } }: { row: EventRouteRow }) {
  const others = choices.filter((choice) => choice !== chosen);
  return (
    <tr>
      <th scope="row">
        <code>{event}</code>
      </th>
      <td>{role}</td>
      <td>{does}</td>
      <td>
        {chosen && (
          <>
            <strong>{chosen}</strong> <span className="dim">or {others.join(', ')}</span>
          </>
        )}
      </td>
    </tr>
  );
}
