import type { TaskDetail, Verification } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Action } from '../../shell/action.tsx';
import { Command } from '../../shell/command.tsx';
import { useShown } from '../../shell/project.tsx';

/** The landed commit, its evidence, and how to verify it. */
export function LandedProof({ detail, commit }: { detail: TaskDetail; commit: string }) {
  const { status } = useShown();
  const [proof, setProof] = useState<Verification | null>(null);
  // A commit names the last receipt that it needed; warnings are none of these.
  const newest = detail.evidence.findLast(({ severity }) => severity !== 'warn');
  return (
    <section className="standing" aria-label="Landed">
      <p className="row">
        <strong className="landed">Landed on {status.project.target}</strong>
        <span>
          commit <code title={commit}>{commit.slice(0, 12)}</code>
        </span>
        {newest && (
          <span>
            evidence <code title={newest.hash}>{newest.hash.slice(0, 12)}</code>
          </span>
        )}
      </p>
      <div className="row buttons">
        <Command text={`tidemill evidence verify ${commit.slice(0, 12)}`} />
        <Action
          needs="viewer"
          act={async () => setProof(await api.verifyEvidence({ project: detail.task.projectId, commit }))}
        >
          Verify
        </Action>
      </div>
      {proof && (
        <>
          <p className={proof.ok ? 'working' : 'crashed'}>
            {proof.ok ? 'The evidence is valid.' : 'The evidence is not valid.'}
          </p>
          <ul className="checks">
            {proof.checks.map(({ name, ok, text }) => (
              <li key={name}>
                <span className={ok ? 'working' : 'crashed'}>{ok ? 'valid' : 'not valid'}</span> {name}: {text}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
