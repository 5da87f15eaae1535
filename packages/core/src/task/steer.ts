import type { Actor, ApprovalMatter, EventBody, Feedback, Project, Refusal, Task } from '@tidemill/contract';
import { type FenceCheck, findTask } from '../check-fence.ts';
import type { Command, CommandOf, DecideEnv, Decision } from '../command.ts';
import { enter } from '../pipeline/enter.ts';
import {
  answerAll,
  answered,
  mayDecide,
  onlyPeople,
  openApproval,
  withdrawAll,
  withdrawHolding,
} from '../question/answer.ts';
import { APPROVE } from '../question/effect.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { interruptRun, released } from '../work.ts';
import { jumpObstacle } from './jump.ts';

/** The task left the stage that the person saw, so the decision no longer applies. */
export function movedOn({ number, stage }: Pick<Task, 'number' | 'stage'>, from: string | undefined): Refusal | null {
  if (from === undefined || from === stage) return null;
  const message = `#${number} is now in ${stage}, no longer in ${from}`;
  return { code: 'conflict', message, hint: 'look at it again, then decide' };
}

function findSeen(slice: Slice, command: { projectId: string; taskId: string; from?: string }): FenceCheck {
  const found = findTask(slice, command);
  const refusal = found.ok ? movedOn(found.task, command.from) : null;
  return refusal ? { ok: false, refusal } : found;
}

/** What a person may do to a task. Each decision names who made it. */
export function cancel(slice: Slice, command: CommandOf<'task.cancel'>): Decision {
  const found = findSeen(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  if (task.stage === 'done')
    return refuse('wrong_stage', `#${task.number} is done and landed`, 'revert its commit instead');
  if (task.stage === 'cancelled') return accept();
  if (task.prepared) return landing(task);
  const because = `cancelled by ${command.by.name}`;
  const stop = task.lease ? [...interruptRun(slice, task, because), released(task, because)] : [];
  return accept(...stop, ...withdrawAll(slice, task, because), {
    type: 'task.moved',
    taskId: task.id,
    from: task.stage,
    to: 'cancelled',
    because,
  });
}

export function retry(slice: Slice, command: CommandOf<'task.retry'>, env: DecideEnv): Decision {
  const found = findSeen(slice, command);
  if (!found.ok) return found;
  const { task, project } = found;
  if (task.lease)
    return refuse('conflict', `${task.lease.workerId} is working on #${task.number}`, 'cancel it first, or wait');
  if (task.stage === 'done') return refuse('wrong_stage', `#${task.number} is done`, 'add a new task');
  if (task.stage === 'needs_info' && !command.note)
    return refuse('bad_input', `#${task.number} asks: ${asked(task)}`, 'answer with a note');
  const approval = openApproval(slice, task);
  if (approval && command.stage !== undefined)
    return refuse('wrong_stage', `#${task.number} waits for your approval`, 'approve it, or reject it with a note');
  const to =
    command.stage ?? approval?.sendBackTo ?? (task.stage === 'cancelled' ? 'open' : (task.resumeStage ?? task.stage));
  const stages = Object.keys(project.rules.pipelines[task.pipeline]?.stages ?? {});
  if (to !== 'open' && !stages.includes(to))
    return refuse('bad_input', `pipeline ${task.pipeline} has no stage "${to}"`, `choose one of ${stages.join(', ')}`);
  const obstacle = command.stage === undefined ? null : jumpObstacle(project.rules, task, to);
  if (obstacle !== null) return refuse('wrong_stage', `#${task.number} cannot go to ${to}`, obstacle);
  if (task.prepared && to !== (task.resumeStage ?? task.stage)) return landing(task);
  const because = `retried by ${command.by.name}`;
  const answers = command.note
    ? answerAll(slice, task, command.note, command.by, env)
    : withdrawHolding(slice, task, because);
  return accept(
    ...say(task, command, env),
    ...answers,
    { type: 'task.counters_reset', taskId: task.id, by: command.by },
    ...enter(slice, project.rules, task, { to, because }),
  );
}

/** Its candidate may already be on the target. The task cannot move until the merger has checked. */
function landing(task: Task): Decision {
  const hint =
    task.stage === 'blocked' ? 'retry it, so that the merger can check' : 'try again when the merger is done';
  return refuse('conflict', `#${task.number} is landing: ${task.prepared?.commit} may already be on the target`, hint);
}

export function approve(slice: Slice, command: CommandOf<'task.approve'>, env: DecideEnv): Decision {
  const found = findSeen(slice, command);
  if (!found.ok) return found;
  const approval = openApproval(slice, found.task);
  if (approval && !mayDecide(approval.question, command.by)) return refuse('forbidden', onlyPeople(approval.question));
  if (approval) {
    const answer = { text: APPROVE, option: APPROVE, source: 'user' as const, by: command.by, at: env.now };
    const note: EventBody[] = command.note ? [noteOf({ ...found.task, openQuestions: [] }, command.note, env)] : [];
    return accept(...note, ...answered(slice, found.project, approval.question, answer, env));
  }
  const choice = choiceOf(found.task, found.project);
  if (!choice)
    return refuse('wrong_stage', `#${found.task.number} is in ${found.task.stage} and does not wait for approval`);
  const because = `approved by ${command.by.name}`;
  const note: EventBody[] = command.note ? [noteOf(found.task, command.note, env)] : [];
  return accept(
    ...note,
    ...withdrawHolding(slice, found.task, because),
    ...(found.task.stage === 'blocked' ? [] : declaredByPlan(found.task, command.by)),
    { type: 'task.counters_reset', taskId: found.task.id, by: command.by },
    // Approval overrules the reviewer's feedback: a builder must not see it when the merge sends the task back.
    ...(found.task.feedback.length > 0
      ? [{ type: 'task.feedback_given' as const, taskId: found.task.id, feedback: [] }]
      : []),
    ...enter(slice, found.project.rules, found.task, { to: choice.approved, because }),
  );
}

/** Who approves a plan approves the decisions in it. They are asked for again when the work decides something else. */
function declaredByPlan({ id: taskId, declared }: Task, by: Actor): EventBody[] {
  const matters = Object.keys(declared) as ApprovalMatter[];
  return matters.length === 0 ? [] : [{ type: 'task.matter_approved', taskId, matters, declared, by }];
}

export function reject(slice: Slice, command: CommandOf<'task.reject'>, env: DecideEnv): Decision {
  const found = findSeen(slice, command);
  if (!found.ok) return found;
  const approval = openApproval(slice, found.task);
  if (approval) {
    const answer = { text: command.note, option: null, source: 'user' as const, by: command.by, at: env.now };
    return accept(...answered(slice, found.project, approval.question, answer, env));
  }
  const choice = choiceOf(found.task, found.project);
  if (!choice)
    return refuse('wrong_stage', `#${found.task.number} is in ${found.task.stage} and does not wait for approval`);
  const because = `rejected by ${command.by.name}`;
  return accept(
    ...withdrawHolding(slice, found.task, because),
    ...say(found.task, command, env),
    { type: 'task.counters_reset', taskId: found.task.id, by: command.by },
    ...enter(slice, found.project.rules, found.task, { to: choice.changes_requested, because }),
  );
}

/** The stages after approval and rejection: of a human stage, or of a review that was escalated to a person. */
function choiceOf(task: Task, project: Project): { approved: string; changes_requested: string } | null {
  const isEscalated = task.blocked?.reason === 'no_criteria' || task.blocked?.reason === 'review_escalation';
  const stage = project.rules.pipelines[task.pipeline]?.stages[isEscalated ? (task.resumeStage ?? '') : task.stage];
  if (!stage || (stage.actor !== 'human' && !isEscalated)) return null;
  const { approved, changes_requested } = stage.on as { approved?: string; changes_requested?: string };
  return approved && changes_requested ? { approved, changes_requested } : null;
}

function say(task: Task, command: Command & { note?: string }, env: DecideEnv): EventBody[] {
  if (!command.note) return [];
  const feedback: Feedback[] = [{ kind: 'person', text: command.note, files: [] }];
  return [{ type: 'task.feedback_given', taskId: task.id, feedback }, noteOf(task, command.note, env)];
}

function noteOf(task: Task, note: string, env: DecideEnv): EventBody {
  const question = task.openQuestions.length > 0 ? `Asked: ${asked(task)}\nAnswer: ` : '';
  const summary = `${question}${note}`.slice(0, 2000);
  return {
    type: 'task.noted',
    taskId: task.id,
    entry: { runId: null, source: 'person', entryType: 'note', summary, at: env.now },
  };
}

const asked = (task: Task) => task.openQuestions.map(({ text }) => text).join(' / ');
