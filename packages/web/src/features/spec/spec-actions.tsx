import type { SpecDetail } from '@tidemill/contract';
import { api } from '../../api.ts';
import { Action, useMay } from '../../shell/action.tsx';
import { useProject } from '../../shell/project.tsx';
import { plural } from '../../words.ts';
import { canApprove, canReject, canResume, canRevise, canStop } from './standing.ts';

/** What a person can decide about a specification now. */
export function SpecActions({ detail, revise }: { detail: SpecDetail; revise: () => void }) {
  const project = useProject();
  const may = useMay('operator');
  const { spec, tasks } = detail;
  const about = { project: project.id, spec: spec.number, by: 'page' };
  const name = `S${spec.number}`;
  const weak = tasks.filter(({ readiness }) => !readiness.isReady);
  return (
    <>
      {canApprove(spec) && (
        <Action
          className="primary"
          act={() => api.approveSpec({ ...about, version: spec.version, override: weak.length > 0 })}
          done={`${name} approved`}
          confirm={{
            title: `Approve version ${spec.version} of ${name}?`,
            text: (
              <>
                <p>{plural(tasks.length, 'task')} will be created, and agents begin to build them.</p>
                {weak.length > 0 && (
                  <p className="waiting">
                    Not ready to be built: {weak.map(({ id }) => id).join(', ')}. Your override is recorded.
                  </p>
                )}
              </>
            ),
            yes: weak.length > 0 ? 'Approve nevertheless' : 'Approve',
            isHarmless: weak.length === 0,
          }}
        >
          Approve
        </Action>
      )}
      {canRevise(spec) && (
        <button type="button" aria-keyshortcuts="c" disabled={!may} onClick={revise}>
          Request changes
        </button>
      )}
      {canReject(spec) && (
        <Action
          act={() => api.rejectSpec(about)}
          done={`${name} rejected`}
          confirm={{
            title: `Reject ${name}?`,
            text: <p>No tasks are made of it. You can request another one at any time.</p>,
            yes: 'Reject',
          }}
        >
          Reject
        </Action>
      )}
      {canStop(spec) && (
        <Action
          act={() => api.stopSpec(about)}
          done={`${name} stopped`}
          confirm={{
            title: `Stop ${name}?`,
            text: <p>Tasks that have not begun are held back. Others go on. You can continue it at any time.</p>,
            yes: 'Stop',
          }}
        >
          Stop
        </Action>
      )}
      {canResume(spec) && (
        <Action act={() => api.resumeSpec(about)} done={`${name} continues`}>
          Continue
        </Action>
      )}
    </>
  );
}
