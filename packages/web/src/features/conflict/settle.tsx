import type { ConflictDetail } from '@tidemill/contract';
import { useLocation } from 'wouter';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { useTo } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { dropDrafts } from '../../text-draft.ts';
import { plural } from '../../words.ts';

interface SettleProps {
  conflict: ConflictDetail;
  left: number;
  /** Files in which something is typed and not saved. */
  unsaved: string[];
  drafts: string;
}

/** It can be pressed while files are open here: somebody may have resolved them in the worktree. The daemon looks. */
export function Settle({ conflict: { number, title, branch, target }, left, unsaved, drafts }: SettleProps) {
  const { project } = useShown();
  const [, go] = useLocation();
  const to = useTo();
  const about = { project: project.id, task: number, by: 'page' };
  const then = async (work: Promise<unknown>) => {
    await work;
    dropDrafts(drafts);
    go(to(`/tasks/${number}`));
  };
  return (
    <>
      {unsaved.length > 0 && <span className="waiting">{plural(unsaved.length, 'file')} not saved</span>}
      <Action
        className="primary"
        act={() => then(api.settleConflict(about))}
        done={`#${number} goes on: the gates check what you resolved`}
        disabled={unsaved.length > 0}
      >
        Mark resolved{left > 0 && <span className="unseen">, {left} left</span>}
      </Action>
      <Action
        className="danger"
        act={() => then(api.abortConflict(about))}
        done={`#${number} starts again`}
        confirm={{
          title: `Begin #${number} anew?`,
          text: (
            <>
              <p>
                #{number} {plainLine(title)} goes back to open, and an agent builds it again on the newest {target}.
                What you resolved here and the branch {plainLine(branch)} are set aside.
              </p>
              <p>They are kept in a snapshot, which can be restored from the task's page.</p>
              {unsaved.length > 0 && (
                <p>What you typed in {plural(unsaved.length, 'file')} and did not save is dropped.</p>
              )}
            </>
          ),
          yes: 'Begin anew',
        }}
      >
        Abort and requeue
      </Action>
    </>
  );
}
