import { useQuery } from '@tanstack/react-query';
import type { ConflictDetail } from '@tidemill/contract';
import { useLocation } from 'wouter';
import { useAddress } from '../../address.ts';
import { api, soon } from '../../api.ts';
import { Action } from '../../shell/action.tsx';
import { Command } from '../../shell/command.tsx';
import { errorText } from '../../shell/notices.tsx';
import { PageHead } from '../../shell/page-head.tsx';
import { PageLink, useTo } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { plural } from '../../words.ts';
import { FileView } from './file-view.tsx';

export function ConflictView({ number }: { number: number }) {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['conflict', project.id, number],
    queryFn: ({ signal }) => api.conflict({ project: project.id, task: number }, soon(signal)),
  });
  if (data) return <Shown conflict={data} />;
  return (
    <>
      <PageHead title={`Conflict of #${number}`} />
      {error ? (
        <div className="prose">
          <p className="waiting">{errorText(error)}</p>
          <p>
            <PageLink to={`/tasks/${number}`}>Look at #{number}</PageLink> ·{' '}
            <PageLink to="/conflicts">All conflicts</PageLink>
          </p>
        </div>
      ) : (
        <p className="dim">Bringing the newest {project.rules.target} in…</p>
      )}
    </>
  );
}

function Shown({ conflict }: { conflict: ConflictDetail }) {
  const { number, title, files, target, why, isBehind, worktree, commands } = conflict;
  const [chosen, choose] = useAddress('file');
  const left = files.filter(({ isResolved }) => !isResolved);
  const file = files.find(({ path }) => path === chosen) ?? left[0] ?? files[0];
  return (
    <>
      <PageHead
        title={
          <>
            Conflict of <PageLink to={`/tasks/${number}`}>#{number}</PageLink> {title}
          </>
        }
        about={why}
      >
        <Settle conflict={conflict} left={left.length} />
      </PageHead>
      {isBehind && (
        <p className="banner">{target} has moved on meanwhile. What you resolve stays; the landing merges the rest.</p>
      )}
      <div className="conflict">
        <nav aria-label="Files in conflict">
          <p className="dim">
            {left.length === 0 ? 'All resolved' : `${left.length} of ${plural(files.length, 'file')} left`}
          </p>
          <ul>
            {files.map(({ path, isResolved }) => (
              <li key={path}>
                <button
                  type="button"
                  className="quiet"
                  data-item
                  aria-current={path === file?.path}
                  onClick={() => choose(path)}
                >
                  <span className={isResolved ? 'landed' : 'waiting'}>{isResolved ? 'resolved' : 'open'}</span> {path}
                </button>
              </li>
            ))}
          </ul>
        </nav>
        {file && <FileView key={`${file.path} ${file.isResolved}`} number={number} file={file} target={target} />}
      </div>
      <details className="terminal">
        <summary>Do it in a terminal instead</summary>
        <p className="dim">
          The merge is under way in {worktree}. What you resolve there counts too; then press “Mark resolved”.
        </p>
        {commands.map((command) => (
          <Command key={command} text={command} />
        ))}
      </details>
    </>
  );
}

function Settle({ conflict: { number, title, target }, left }: { conflict: ConflictDetail; left: number }) {
  const { project } = useShown();
  const [, go] = useLocation();
  const to = useTo();
  const about = { project: project.id, task: number, by: 'page' };
  const then = (work: Promise<unknown>) => work.then(() => go(to(`/tasks/${number}`)));
  return (
    <>
      <Action
        className="primary"
        act={() => then(api.settleConflict(about))}
        done={`#${number} goes on: the gates check what you resolved`}
      >
        Mark resolved{left > 0 && <span className="unseen">, {left} left</span>}
      </Action>
      <Action
        act={() => then(api.abortConflict(about))}
        done={`#${number} begins anew`}
        confirm={{
          title: `Begin #${number} anew?`,
          text: `The work on “${title}” so far is set aside in a snapshot (it can be restored from the task's page), and the task goes back to open, on the newest ${target}.`,
          yes: 'Begin anew',
        }}
      >
        Abort and requeue
      </Action>
    </>
  );
}
