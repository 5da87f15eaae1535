import type { Task } from '@tidemill/contract';
import { checkFence, findTask } from '../check-fence.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { endStage } from '../pipeline/end-stage.ts';
import { enter } from '../pipeline/enter.ts';
import { parkedIfAsking } from '../pipeline/park.ts';
import { stageOf } from '../pipeline/stage.ts';
import { askAfterProof } from '../question/at-end.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { COMMENTED, wayBack } from '../task/unread.ts';
import { interruptRun, released } from '../work.ts';

export function finishStage(slice: Slice, command: CommandOf<'stage.finish'>, env: DecideEnv): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const { outcome, failure, message = '', feedback, tree, conflict } = command;
  const stage = stageOf(project.rules, task);
  if (stage?.actor === 'agent')
    return refuse('wrong_stage', `stage ${task.stage} belongs to an agent`, 'finish its run instead');
  if (stage?.actor === 'system' && stage.does === 'merge' && outcome === 'approved')
    return refuse('wrong_stage', `#${task.number} is approved by landing it`, 'use merge.prepare, then merge.land');
  if (task.prepared)
    return refuse('conflict', `${task.prepared.commit} may have landed already`, 'land it or abandon it first');
  const after = endStage(slice, project.rules, task, { outcome, failure, message, feedback, tree, conflict }, env);
  const sendBackTo = (stage?.actor === 'system' && stage.on.failed) || task.stage;
  return accept(...askAfterProof({ slice, project, task, env }, command, after, sendBackTo), released(task, outcome));
}

/** Something of a person blocks the stage (a dirty checkout): release the worker and try again later. */
export function waitInStage(slice: Slice, command: CommandOf<'stage.wait'>, env: DecideEnv): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task } = checked;
  const kind = { ...(command.isPassing ? { isPassing: true } : {}), ...(command.landing ? { isLanding: true } : {}) };
  const until = env.now + waitMs(task, command, env.now);
  return accept(
    ...interruptRun(slice, task, command.why),
    { type: 'task.waiting', taskId: task.id, why: command.why, until, ...kind },
    released(task, command.why),
    ...parkedIfAsking(task),
  );
}

/** A landing that waits for the same reason looks less and less often, or it would write all day. */
function waitMs(task: Task, { why, untilMs, landing }: CommandOf<'stage.wait'>, now: number): number {
  if (!landing || task.waiting !== why) return untilMs;
  return Math.min(landing.maxMs, Math.max(untilMs, now - task.stageSince));
}

export function returnToBuilder(slice: Slice, command: CommandOf<'stage.return_to_builder'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const to = wayBack(project.rules, task);
  if (to === null) return refuse('wrong_stage', `nobody said anything that sends #${task.number} back to its builder`);
  return accept(
    ...enter(slice, project.rules, task, { to, because: COMMENTED }),
    released(task, COMMENTED),
    ...parkedIfAsking({ ...task, stage: to }),
  );
}

export function commitWork(slice: Slice, command: CommandOf<'work.commit'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { subjectId: taskId, commit, tree, notes } = command;
  if (checked.task.head?.commit === commit && notes.length === 0) return accept();
  return accept({ type: 'work.committed', taskId, commit, tree, notes });
}

export function noteSnapshot(slice: Slice, command: CommandOf<'snapshot.note'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  return accept({ type: 'snapshot.taken', taskId: command.taskId, ref: command.ref, why: command.why });
}
