import { type Actor, AppError, type Project, type Task, type TaskMove } from '@tidemill/contract';
import { type Command, movedOn } from '@tidemill/core';
import type { Services } from '../context.ts';
import { projectOf, summary, taskOf, unwrap } from '../find.ts';
import type { Signed } from '../handler.ts';
import { movesFor } from './task-detail.ts';

/** Moves a task to another stage with the one command that leads there. */
export async function moveTask(services: Services, input: Signed<'moveTask'>) {
  const { store } = services;
  const project = await projectOf(services, input.project);
  const task = await taskOf(services, project, input.task);
  const refusal = movedOn(task, input.from);
  if (refusal) unwrap({ ok: false, refusal });
  const open = await store.records({ noun: 'question', projectId: project.id, parent: task.id, isOpen: true });
  const moves = movesFor(project, task, open);
  const move = moves.find(({ to }) => to === input.to);
  const places = moves.flatMap(({ to, via }) => (via ? [to] : []));
  const elsewhere = places.length > 0 ? `It can go to ${places.join(', ')}.` : 'It cannot be moved now.';
  if (!move)
    throw new AppError('bad_input', `pipeline ${task.pipeline} has no stage "${input.to}"`, { hint: elsewhere });
  if (!move.via)
    throw new AppError('wrong_stage', `#${task.number} cannot go to ${move.to}: ${move.why}`, { hint: elsewhere });
  if (move.needsNote && !input.note)
    throw new AppError('bad_input', `moving #${task.number} to ${move.to} ${NEEDS[move.via]}`, {
      hint: `tidemill task move ${task.number} ${move.to} --note "…"`,
    });
  const reply = unwrap(await store.execute(commandFor(project, task, move, input)));
  return summary(store, reply.task!);
}

const NEEDS: Record<NonNullable<TaskMove['via']>, string> = {
  reject: 'rejects it, and a rejection needs a note that says what is wrong',
  retry: 'answers its question, and that needs a note',
  approve: 'needs a note',
  cancel: 'needs a note',
};

function commandFor(
  { id: projectId }: Project,
  { id: taskId }: Task,
  { to, via }: TaskMove,
  { by, note, from }: { by: Actor; note?: string; from?: string },
): Command {
  const of = { projectId, taskId, by, from };
  switch (via!) {
    case 'approve':
      return { type: 'task.approve', ...of, note };
    case 'reject':
      return { type: 'task.reject', ...of, note: note ?? '' };
    case 'retry':
      return { type: 'task.retry', ...of, note, stage: to };
    case 'cancel':
      return { type: 'task.cancel', ...of };
  }
}
