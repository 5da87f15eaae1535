import { useQueryClient } from '@tanstack/react-query';
import type { ConflictDetail } from '@tidemill/contract';
import { useLocation } from 'wouter';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { useTo } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { dropDrafts } from '../../text-draft.ts';
import { plural } from '../../words.ts';
import { Losses } from './losses.tsx';

interface SettleProps {
  conflict: ConflictDetail;
  left: number;
  /** Files with unsaved text. */
  unsaved: string[];
  drafts: string;
}

/** Enabled while files are open here, because they may be resolved in the worktree. The daemon checks. */
export function Settle({ conflict, left, unsaved, drafts }: SettleProps) {
  const { number, title, branch, target, losses } = conflict;
  const { project } = useShown();
  const cache = useQueryClient();
  const [, go] = useLocation();
  const to = useTo();
  const about = { project: project.id, task: number, by: 'page' };
  const then = async (work: Promise<unknown>) => {
    await work;
    dropDrafts(drafts);
    go(to(`/tasks/${number}`));
  };
  /** Accepts exactly what the person was shown. */
  const settle = async () => {
    try {
      await then(api.settleConflict({ ...about, accept: losses.map(({ content }) => content) }));
    } catch (error) {
      // Something else is lost now than what the page showed.
      await cache.invalidateQueries({ queryKey: ['conflict', project.id, number] });
      throw error;
    }
  };
  return (
    <>
      {unsaved.length > 0 && <span className="waiting">{plural(unsaved.length, 'file')} not saved</span>}
      <Action
        className="primary"
        act={settle}
        done={`#${number} continues: the gates check your resolution`}
        disabled={unsaved.length > 0}
        confirm={
          losses.length === 0
            ? undefined
            : {
                title: `Drop changes of ${target}?`,
                text: (
                  <>
                    <p>
                      Your resolution does not have everything that {target} changed. If you go on, this is removed from{' '}
                      {target} when #{number} lands, and your decision is recorded:
                    </p>
                    <Losses losses={losses} target={target} />
                  </>
                ),
                yes: 'Settle without them',
              }
        }
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
