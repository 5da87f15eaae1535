import { useQuery } from '@tanstack/react-query';
import type { SpecDetail } from '@tidemill/contract';
import { useState } from 'react';
import { useAddress } from '../../address.ts';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Failed } from '../../shell/failed.tsx';
import { useProject } from '../../shell/project.tsx';
import { plural, timeOf } from '../../words.ts';
import { DiffView } from '../diff/diff-view.tsx';

/** All versions, and what changed between two of them. */
export function VersionsPanel({ detail: { spec, version, versions } }: { detail: SpecDetail }) {
  const [, show] = useAddress('version');
  const [to, setTo] = useState(spec.version);
  return (
    <div className="spec-versions">
      <ol>
        {versions.toReversed().map((each) => (
          <li key={each.version} className="row">
            <strong>version {each.version}</strong>
            <span className="dim">
              by {plainLine(each.by.name)}, {timeOf(each.at)}
              {each.comments > 0 && `, ${plural(each.comments, 'comment')}`}
            </span>
            <button
              type="button"
              className="quiet"
              aria-pressed={each.version === version?.version}
              onClick={() => show(each.version === spec.version ? '' : String(each.version))}
            >
              Read
            </button>
            {each.version > 1 && (
              <button
                type="button"
                className="quiet"
                aria-pressed={each.version === to}
                onClick={() => setTo(each.version)}
              >
                Compare with version {each.version - 1}
              </button>
            )}
          </li>
        ))}
      </ol>
      {to > 1 ? <Comparison spec={spec.number} to={to} /> : <p className="dim">There is only one version.</p>}
    </div>
  );
}

function Comparison({ spec, to }: { spec: number; to: number }) {
  const project = useProject();
  const { data, error } = useQuery({
    queryKey: ['spec', project.id, spec, 'diff', to],
    queryFn: ({ signal }) => api.specDiff({ project: project.id, spec, from: to - 1, to }, withTimeout(signal)),
  });
  if (error) return <Failed error={error} />;
  if (!data) return <p className="dim">Loading the change…</p>;
  return data.diff === '' ? <p className="dim">Nothing changed.</p> : <DiffView text={data.diff} isCut={false} />;
}
