import { checkFence, findTask } from '../check-fence.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { isAboutBlindness } from '../gate/blindness.ts';
import { isAboutWorkflows } from '../gate/workflow-files.ts';
import { enter } from '../pipeline/enter.ts';
import { stageOf } from '../pipeline/stage.ts';
import { withdrawHolding } from '../question/answer.ts';
import { APPROVE, SEND_BACK } from '../question/effect.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { holdFor } from '../stage/hold.ts';
import { released } from '../work.ts';
import { notMerging } from './merge.ts';

/**
 *   offered ──▶ pull request open ──merged──▶ done
 *                    ├─ people comment ──▶ back to the builder; the same pull request goes on
 *                    └─ closed by hand, no checks ──▶ a person is asked
 */
export function notePull(slice: Slice, command: CommandOf<'merge.note_pull'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const { number, url } = command;
  const misplaced = notMerging(project, task);
  if (misplaced) return misplaced;
  if (task.pull?.number === number) return accept();
  return accept({ type: 'merge.pull_opened', taskId: task.id, number, url });
}

/** Recorded before it is queued: a later removal from the queue is one of this commit. */
export function queuePull(slice: Slice, command: CommandOf<'merge.queue'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const { after } = command;
  const misplaced = notMerging(project, task);
  if (misplaced) return misplaced;
  if (!task.pull || !task.offered) return refuse('wrong_stage', `#${task.number} has no pull request to queue`);
  if (task.offered.queuedAfter === after) return accept();
  return accept({ type: 'merge.queued', taskId: task.id, number: task.pull.number, after });
}

/** A person's words are no failure of the work: they do not count towards its limits. */
export function recordComments(slice: Slice, command: CommandOf<'merge.record_comments'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const stage = stageOf(project.rules, task);
  const misplaced = notMerging(project, task);
  if (misplaced || stage?.actor !== 'system') return misplaced ?? refuse('wrong_stage', 'it is not being merged');
  if (!task.pull) return refuse('wrong_stage', `#${task.number} has no pull request`);
  if (task.prepared)
    return refuse('conflict', `${task.prepared.commit} may have landed already`, 'land it or abandon it first');
  const { seen, authors, feedback } = command;
  return accept(
    { type: 'merge.commented', taskId: task.id, number: task.pull.number, seen, authors },
    { type: 'task.feedback_given', taskId: task.id, feedback },
    ...enter(slice, project.rules, task, { to: stage.on.failed, because: `${authors.join(', ')} commented` }),
    released(task, 'comments on the pull request'),
  );
}

/**
 * Its pull request was merged at a time when it was not offered: it lands, if nothing was done since. A worker that holds
 * it, or newer work, goes on; the merge stage decides about that.
 */
export function noteMerged(slice: Slice, command: CommandOf<'merge.note_merged'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task, project } = found;
  const { number, head } = command;
  const stages = Object.entries(project.rules.pipelines[task.pipeline]?.stages ?? {});
  const merge = stages.find(([, stage]) => stage.actor === 'system' && stage.does === 'merge')?.[0];
  const isOver = task.stage === 'done' || task.stage === 'cancelled' || task.stage === merge;
  const isHeld = task.lease !== null || task.prepared !== null || task.settling !== null;
  if (merge === undefined || isOver || isHeld || task.pull?.number !== number || task.head?.commit !== head)
    return accept();
  const because = `pull request #${number} was merged`;
  return accept(...withdrawHolding(slice, task, because), ...enter(slice, project.rules, task, { to: merge, because }));
}

export function askAboutPull(slice: Slice, command: CommandOf<'merge.ask'>, env: DecideEnv): Decision {
  const { about, text, context, approves } = command;
  const option = (label: string, description: string) => ({ label, description, recommended: false, implications: '' });
  return holdFor(slice, command, env, ({ task }) =>
    task.approvedPulls.includes(about)
      ? null
      : {
          question: {
            text: `#${task.number} ${task.title}: ${text}`.slice(0, 20_000),
            type: 'blocking',
            context: context.slice(0, 20_000),
            options: [option(APPROVE, approves), option(SEND_BACK, 'An agent works on it again. Write what to do.')],
            allowFreeText: true,
            tags: [isAboutBlindness(about) ? 'checks' : 'pull-request'],
          },
          because: becauseOf(about),
          effect: { pull: about },
        },
  );
}

function becauseOf(about: string): string {
  if (isAboutBlindness(about)) return 'a gate that no longer notices faults waits for a person';
  return isAboutWorkflows(about) ? 'changed workflow files wait for a person' : 'its pull request waits for a person';
}
