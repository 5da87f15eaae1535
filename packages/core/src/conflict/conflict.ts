import type { Project, Task } from '@tidemill/contract';
import { findTask } from '../check-fence.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { enter } from '../pipeline/enter.ts';
import { isOpenConflict, whyForPerson } from '../pipeline/open-conflict.ts';
import { withdrawHolding } from '../question/answer.ts';
import { accept } from '../refusal.ts';
import type { Slice } from '../slice.ts';

/**
 *   blocked (conflict) ──resolve_file, in any order and again──▶ blocked
 *                      ──begin_settle──▶ blocked, settling ──settle: the merge is committed──▶ the stage whose gates prove it
 *                      ──abort: the work is in a snapshot──▶ open, on another branch
 *                      ──retry: nothing else is about to land──▶ the stage that resolves conflicts
 * After a crash the task still waits, and its worktree is kept. The next start finishes a task that was settling.
 */
export function resolveFile(slice: Slice, command: CommandOf<'conflict.resolve_file'>): Decision {
  const found = waiting(slice, command);
  if (!found.ok) return found;
  const { taskId, path, how, by } = command;
  return accept({ type: 'conflict.file_resolved', taskId, path, how, by });
}

/** The files are resolved. After a crash, the next start makes the commit if it is missing, and settles. */
export function beginSettle(slice: Slice, command: CommandOf<'conflict.begin_settle'>): Decision {
  const found = waiting(slice, command);
  if (!found.ok) return found;
  const { taskId, by, accepts = [] } = command;
  return accept({ type: 'conflict.settle_begun', taskId, by, accepts });
}

export function settleConflict(slice: Slice, command: CommandOf<'conflict.settle'>): Decision {
  const found = waiting(slice, command);
  if (!found.ok) return found;
  const { task, project } = found;
  const { commit, tree, notes, by, accepts = [] } = command;
  const because = `conflict resolved by ${by.name}`;
  const files = task.feedback.filter(({ kind }) => kind === 'conflict').flatMap((feedback) => feedback.files);
  const isNew = task.head?.commit !== commit || notes.length > 0;
  return accept(
    ...(isNew ? [{ type: 'work.committed' as const, taskId: task.id, commit, tree, notes }] : []),
    { type: 'conflict.settled', taskId: task.id, files: [...new Set(files)], by, accepts },
    ...withdrawHolding(slice, task, because),
    { type: 'task.counters_reset', taskId: task.id, by },
    ...enter(slice, project.rules, task, { to: provingStage(project, task), because }),
  );
}

/** The last stage that runs the gates; landing runs them again on the merged tree. */
function provingStage({ rules }: Project, task: Task): string {
  const stages = Object.entries(rules.pipelines[task.pipeline]?.stages ?? {});
  const verify = stages.findLast(([, stage]) => stage.actor === 'system' && stage.does === 'verify');
  return verify?.[0] ?? task.resumeStage ?? 'open';
}

export function abortConflict(slice: Slice, command: CommandOf<'conflict.abort'>, env: DecideEnv): Decision {
  const found = waiting(slice, command);
  if (!found.ok) return found;
  const { task, project } = found;
  const { by, snapshot } = command;
  const because = `conflict aborted by ${by.name}`;
  const kept = snapshot ? ` The work so far is kept at ${snapshot}.` : '';
  const summary = `${by.name} gave up the change made so far, because it conflicted with ${project.rules.target}. Start again on the newest ${project.rules.target}.${kept}`;
  const entry = { runId: null, source: 'person' as const, entryType: 'conflict_aborted', summary, at: env.now };
  return accept(
    { type: 'conflict.aborted', taskId: task.id, by, from: task.branch, branch: nextBranch(task.branch), snapshot },
    { type: 'task.noted', taskId: task.id, entry: { ...entry, summary: summary.slice(0, 2000) } },
    ...withdrawHolding(slice, task, because),
    { type: 'task.counters_reset', taskId: task.id, by },
    ...enter(slice, project.rules, task, { to: 'open', because }),
  );
}

/** Times that the engine tries a blocked conflict again by itself. After that only a person does. */
const MAX_IDLE_TRIES = 2;

/** Did an agent give up on it, so that it may succeed while nothing else lands? Not if a person must resolve it. */
export function mayRetryIdle(task: Task, { rules }: Project): boolean {
  if (!isOpenConflict(task) || task.lease !== null || task.settling || task.openQuestions.length > 0) return false;
  const files = task.feedback.filter(({ kind }) => kind === 'conflict').flatMap((feedback) => feedback.files);
  return task.conflicts !== null && task.conflicts.idleTries < MAX_IDLE_TRIES && whyForPerson(files, rules) === null;
}

export function retryConflict(slice: Slice, command: CommandOf<'conflict.retry'>): Decision {
  const found = waiting(slice, command);
  if (!found.ok) return found;
  const { task, project } = found;
  if (!mayRetryIdle(task, project)) return refusal(task);
  const stage = project.rules.pipelines[task.pipeline]?.stages[task.resumeStage ?? ''];
  const to = stage?.actor === 'system' && stage.does === 'merge' ? stage.on.conflicts_detected : null;
  if (to === null) return refusal(task);
  return accept(
    { type: 'conflict.retried', taskId: task.id, tries: (task.conflicts?.idleTries ?? 0) + 1 },
    ...enter(slice, project.rules, task, { to, because: 'nothing else is about to land' }),
  );
}

/** `task/7-tide` → `task/7-tide.2` → `task/7-tide.3`. */
function nextBranch(branch: string): string {
  const [, name = branch, last = '1'] = /^(.+?)(?:\.(\d+))?$/.exec(branch) ?? [];
  return `${name}.${Number(last) + 1}`;
}

function waiting(slice: Slice, command: { projectId: string; taskId: string }) {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  if (isOpenConflict(task) && task.lease === null) return found;
  return refusal(task);
}

function refusal({ number, stage }: Task): Extract<Decision, { ok: false }> {
  const message = `#${number} is in ${stage} and has no conflict for a person to resolve`;
  return {
    ok: false,
    refusal: { code: 'wrong_stage', message, hint: '`tidemill conflicts` lists the tasks that have one' },
  };
}
