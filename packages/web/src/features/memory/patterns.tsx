import { useQuery } from '@tanstack/react-query';
import type { PatternView } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useProject } from '../../shell/project.tsx';
import { useElapsed } from '../../time.ts';
import { plural } from '../../words.ts';
import { TraceById } from './traces.tsx';

/** What happened again and again. */
export function Patterns() {
  const project = useProject();
  const { data, error } = useQuery({
    queryKey: ['patterns', project.id],
    queryFn: ({ signal }) => api.patterns({ project: project.id, limit: 20 }, withTimeout(signal)),
  });
  return (
    <section className="memory-part" aria-label="Repeated">
      <h3>Repeated</h3>
      <Failed error={error} />
      {data?.length === 0 && <p className="dim">Nothing happened three times.</p>}
      <ul className="traces">
        {data?.map((pattern) => (
          <Row key={pattern.id} pattern={pattern} />
        ))}
      </ul>
    </section>
  );
}

function Row({ pattern }: { pattern: PatternView }) {
  const { key, type, count, runs, example, lastAt, suggests, lesson, traceIds } = pattern;
  const [isOpen, setOpen] = useState(false);
  const ago = useElapsed(lastAt);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <strong>{count}×</strong> <span>{type}</span> <code>{plainLine(key)}</code>{' '}
          <span className="dim">
            in {plural(runs, 'run')}, last {ago} ago
            {lesson ? `; lesson ${lesson}` : suggests === 'nothing' ? '' : `; could become a ${suggests}`}
          </span>
        </summary>
        <p dir="auto">{plain(example)}</p>
        {isOpen && (
          <ul className="traces" aria-label="The newest of them">
            {traceIds.toReversed().map((id) => (
              <TraceById key={id} id={id} />
            ))}
          </ul>
        )}
      </details>
    </li>
  );
}
