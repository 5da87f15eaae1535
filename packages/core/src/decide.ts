import { acknowledgeAlert, raiseAlert } from './alert/alert.ts';
import { queueNotification, settleNotification } from './alert/notification.ts';
import { limitBudget } from './budget/budget.ts';
import type { Command, CommandOf, DecideEnv, Decision } from './command.ts';
import { abortConflict, resolveFile, settleConflict } from './conflict/conflict.ts';
import { assignTask, steerWorker, takeLease } from './fleet/fleet.ts';
import { recordEvidence } from './gate/evidence.ts';
import { fenced, findTask } from './lease/fence.ts';
import { claim, expire, interruptRun, release, released, renew } from './lease/lease.ts';
import { abandonMerge, landMerge, prepareMerge } from './merge/merge.ts';
import { endStage } from './pipeline/end-stage.ts';
import { stageOf } from './pipeline/stage.ts';
import { registerWorker, removeWorker, saveProject } from './project/project.ts';
import { answerQuestion, expireQuestion, remindOfQuestion, revokePreference } from './question/answer.ts';
import { askInRun, askQuestion } from './question/ask.ts';
import { askAfterProof } from './question/at-end.ts';
import { holdStage } from './question/hold-stage.ts';
import { parkedIfAsking } from './question/park.ts';
import { accept, refuse } from './refusal.ts';
import {
  briefRun,
  denyInRun,
  finishRun,
  knowSession,
  progressRun,
  sendBackRun,
  spendInRun,
  startRun,
} from './run/run.ts';
import type { Slice } from './slice.ts';
import { createTask, setDependencies } from './task/create.ts';
import { editTask, noteTask } from './task/edit.ts';
import { approve, cancel, reject, retry } from './task/steer.ts';

/** A command's answer: events, or a refusal that changed nothing. Pure: the same slice, command and env decide the same. */
export function decide(slice: Slice, command: Command, env: DecideEnv): Decision {
  switch (command.type) {
    case 'project.register':
    case 'project.configure':
      return saveProject(slice, command);
    case 'worker.register':
      return registerWorker(slice, command);
    case 'worker.remove':
      return removeWorker(slice, command);
    case 'task.create':
      return createTask(slice, command);
    case 'task.set_dependencies':
      return setDependencies(slice, command);
    case 'task.edit':
      return editTask(slice, command);
    case 'task.note':
      return noteTask(slice, command, env);
    case 'task.cancel':
      return cancel(slice, command);
    case 'task.retry':
      return retry(slice, command, env);
    case 'task.approve':
      return approve(slice, command, env);
    case 'task.reject':
      return reject(slice, command, env);
    case 'work.claim':
      return claim(slice, command, env);
    case 'lease.renew':
      return renew(slice, command, env);
    case 'lease.release':
      return release(slice, command);
    case 'lease.expire':
      return expire(slice, command, env);
    case 'run.start':
      return startRun(slice, command, env);
    case 'run.ask':
      return askInRun(slice, command, env);
    case 'run.progress':
      return progressRun(slice, command);
    case 'run.spend':
      return spendInRun(slice, command, env);
    case 'run.brief':
      return briefRun(slice, command);
    case 'run.know_session':
      return knowSession(slice, command);
    case 'guard.deny':
      return denyInRun(slice, command);
    case 'run.send_back':
      return sendBackRun(slice, command);
    case 'run.finish':
      return finishRun(slice, command, env);
    case 'stage.finish':
      return finishStage(slice, command, env);
    case 'stage.wait':
      return waitInStage(slice, command, env);
    case 'stage.hold':
      return holdStage(slice, command, env);
    case 'work.commit':
      return commitWork(slice, command);
    case 'evidence.record':
      return recordEvidence(slice, command, env);
    case 'merge.prepare':
      return prepareMerge(slice, command);
    case 'merge.abandon':
      return abandonMerge(slice, command);
    case 'merge.land':
      return landMerge(slice, command);
    case 'snapshot.note':
      return noteSnapshot(slice, command);
    case 'conflict.resolve_file':
      return resolveFile(slice, command);
    case 'conflict.settle':
      return settleConflict(slice, command);
    case 'conflict.abort':
      return abortConflict(slice, command, env);
    case 'alert.raise':
      return raiseAlert(slice, command, env);
    case 'alert.acknowledge':
      return acknowledgeAlert(slice, command);
    case 'question.ask':
      return askQuestion(slice, command, env);
    case 'question.answer':
      return answerQuestion(slice, command, env);
    case 'question.expire':
      return expireQuestion(slice, command, env);
    case 'question.remind':
      return remindOfQuestion(slice, command, env);
    case 'preference.revoke':
      return revokePreference(slice, command);
    case 'budget.limit':
      return limitBudget(slice, command);
    case 'notification.queue':
      return queueNotification(slice, command, env);
    case 'notification.settle':
      return settleNotification(slice, command);
    case 'worker.wish':
    case 'worker.beat':
    case 'worker.crash':
    case 'worker.reset':
      return steerWorker(slice, command, env);
    case 'lease.take':
      return takeLease(slice, command);
    case 'task.wake':
      return wakeTask(slice, command, env);
    case 'task.assign':
      return assignTask(slice, command);
    case 'supervisor.decide': {
      const { taskId, action, subject, reason } = command;
      return accept({ type: 'supervisor.decided', taskId, action, subject, reason });
    }
    case 'emergency.record': {
      const { operation, by, reason, workers, tasks } = command;
      return accept({ type: 'emergency.executed', operation, by, reason, workers, tasks });
    }
  }
}

function finishStage(slice: Slice, command: CommandOf<'stage.finish'>, env: DecideEnv): Decision {
  const checked = fenced(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const { outcome, failure, message = '', feedback, tree } = command;
  const stage = stageOf(project.rules, task);
  if (stage?.actor === 'agent')
    return refuse('wrong_stage', `stage ${task.stage} belongs to an agent`, 'its end is the end of its run');
  if (stage?.actor === 'system' && stage.does === 'merge' && outcome === 'approved')
    return refuse('wrong_stage', `#${task.number} is approved by landing it`, 'use merge.prepare, then merge.land');
  if (task.prepared)
    return refuse('conflict', `${task.prepared.commit} may have landed already`, 'land it or abandon it first');
  const after = endStage(slice, project.rules, task, { outcome, failure, message, feedback, tree }, env);
  const sendBackTo = (stage?.actor === 'system' && stage.on.failed) || task.stage;
  return accept(...askAfterProof({ slice, project, task, env }, command, after, sendBackTo), released(task, outcome));
}

/** Something a person holds is in the way (a dirty checkout): give the worker back and look again later. */
function waitInStage(slice: Slice, command: CommandOf<'stage.wait'>, env: DecideEnv): Decision {
  const checked = fenced(slice, command);
  if (!checked.ok) return checked;
  const { task } = checked;
  const passing = command.isPassing ? { isPassing: true } : {};
  return accept(
    ...interruptRun(slice, task, command.why),
    { type: 'task.waiting', taskId: task.id, why: command.why, until: env.now + command.untilMs, ...passing },
    released(task, command.why),
    ...parkedIfAsking(task),
  );
}

function wakeTask(slice: Slice, command: CommandOf<'task.wake'>, env: DecideEnv): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { id: taskId, lease, waiting } = found.task;
  if (lease || waiting === null) return accept();
  return accept({ type: 'task.waiting', taskId, why: 'it is tried again', until: env.now, isPassing: true });
}

function commitWork(slice: Slice, command: CommandOf<'work.commit'>): Decision {
  const checked = fenced(slice, command);
  if (!checked.ok) return checked;
  const { taskId, commit, tree, notes } = command;
  if (checked.task.head?.commit === commit && notes.length === 0) return accept();
  return accept({ type: 'work.committed', taskId, commit, tree, notes });
}

function noteSnapshot(slice: Slice, command: CommandOf<'snapshot.note'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  return accept({ type: 'snapshot.taken', taskId: command.taskId, ref: command.ref, why: command.why });
}
