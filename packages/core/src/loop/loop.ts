import { categoryId, isLoopHeld, isLoopOn, loopId } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { requestedJob } from '../subject/part.ts';

export function switchLoop(slice: Slice, { projectId, on, by }: CommandOf<'loop.switch'>): Decision {
  if (!slice.projects.get(projectId)) return refuse('not_found', `there is no project ${projectId}`);
  const loop = slice.record('loop', loopId(projectId));
  const isSame = loop?.switched?.on === on && !(on && loop.paused);
  return isSame ? accept() : accept({ type: 'loop.switched', on, by });
}

export function pauseLoop(slice: Slice, { projectId, trigger, why }: CommandOf<'loop.pause'>): Decision {
  const project = slice.projects.get(projectId);
  if (!project) return refuse('not_found', `there is no project ${projectId}`);
  const loop = slice.record('loop', loopId(projectId)) ?? null;
  return isLoopOn(loop, project.rules.loop) ? accept({ type: 'loop.paused', trigger, why }) : accept();
}

export function holdLoop(slice: Slice, { projectId, until }: CommandOf<'loop.hold'>): Decision {
  if (!slice.projects.get(projectId)) return refuse('not_found', `there is no project ${projectId}`);
  const loop = slice.record('loop', loopId(projectId));
  return (loop?.heldUntil ?? null) === until ? accept() : accept({ type: 'loop.held', until });
}

export function proposeIn(slice: Slice, command: CommandOf<'loop.propose'>, env: DecideEnv): Decision {
  const { projectId, category, by } = command;
  const project = slice.projects.get(projectId);
  if (!project) return refuse('not_found', `there is no project ${projectId}`);
  const loop = slice.record('loop', loopId(projectId)) ?? null;
  if (!isLoopOn(loop, project.rules.loop))
    return refuse('conflict', loop?.paused ? 'the loop is paused' : 'the loop is off', 'run `tidemill loop on`');
  if (isLoopHeld(loop, env.now))
    return refuse('budget_exhausted', "the loop's budget of a day is spent", '`tidemill loop` shows until when');
  const id = categoryId(projectId, category);
  const jobs = slice
    .list('openRecords', projectId, 'job')
    .filter((record) => record.noun === 'job')
    .filter(({ mode }) => mode === 'propose');
  if (jobs.some(({ lease, subjectId }) => lease === null || subjectId === id))
    return refuse('conflict', 'an agent is already asked for an improvement', 'one is asked after the other');
  const requested = requestedJob(env, { subjectId: id, mode: 'propose', input: category, by });
  return accept({ type: 'category.used', categoryId: id, category, jobId: requested.jobId }, requested);
}
