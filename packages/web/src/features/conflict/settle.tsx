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
  /** Files with unsaved text. */
  unsaved: string[];
  drafts: string;
}

/** Enabled while files are open here, because they may be resolved in the worktree. The daemon checks. */
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
        done={`#${number} continues: the gates check your resolution`}
        disabled={unsaved.length > 0}
      >
        Mark resolved{left > 0 && <span className="unseen">, {left} left</span>}
      </Action>
      <Action
        className="danger"
        act={() => then(api.abortConflict(about))}
        done={`#${number} restarts`}
        confirm={{
          title: `Restart #${number}?`,
          text: (
            <>
              <p>
                #{number} {plainLine(title)} goes back to open, and an agent builds it again on the newest {target}.
                Your resolution and the branch {plainLine(branch)} are saved in a snapshot.
              </p>
              <p>You can restore the snapshot from the task's page.</p>
              {unsaved.length > 0 && <p>Unsaved text in {plural(unsaved.length, 'file')} is discarded.</p>}
            </>
          ),
          yes: 'Restart task',
        }}
      >
        Abort and requeue
      </Action>
    </>
  );
}
