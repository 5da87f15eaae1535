import { useQuery } from '@tanstack/react-query';
import type { MemorySummary } from '@tidemill/contract';
import { api, withTimeout } from '../../api.ts';
import { plain } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useProject } from '../../shell/project.tsx';
import { plural } from '../../words.ts';

/** What was learned in the last seven days, in figures. */
export function Week() {
  const project = useProject();
  const { data, error, isPending } = useQuery({
    queryKey: ['memory', project.id],
    queryFn: ({ signal }) => api.memorySummary({ project: project.id }, withTimeout(signal)),
  });
  return (
    <section className="card" aria-label="The last seven days">
      <Failed error={error} />
      {isPending && <p className="dim">Loading…</p>}
      {data && <Figures summary={data} />}
    </section>
  );
}

function Figures({ summary }: { summary: MemorySummary }) {
  const { gotchas, patterns, preferences, confirmed, retired, promoted, active, byStage, uses, unused, top } = summary;
  const shown: [name: string, text: string][] = [
    ['In use', plural(active, 'lesson')],
    ['In production', String(byStage.production ?? 0)],
    ['New this week', newOnes({ gotchas, patterns, preferences })],
    ['Seen again', String(confirmed)],
    ['Retired', String(retired)],
    ['In AGENTS.md or CLAUDE.md', String(promoted)],
    ['Runs with lessons', uses.runs === 0 ? 'none' : `${uses.runs}: ${uses.helped} went well, ${uses.hurt} did not`],
    ['Unused for 90 days', String(unused)],
  ];
  return (
    <>
      <dl className="memory-figures">
        {shown.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {top && (
        <p dir="auto">
          <span className="dim">Most useful:</span> {plain(top)}
        </p>
      )}
    </>
  );
}

function newOnes({ gotchas, patterns, preferences }: Pick<MemorySummary, 'gotchas' | 'patterns' | 'preferences'>) {
  const kinds: [number, string][] = [
    [gotchas, 'gotcha'],
    [patterns, 'pattern'],
    [preferences, 'preference'],
  ];
  const some = kinds.filter(([count]) => count > 0).map(([count, kind]) => plural(count, kind));
  return some.join(', ') || 'none';
}
