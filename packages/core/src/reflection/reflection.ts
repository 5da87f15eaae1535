import { ENGINE, type EventBody, MOST_FACTS, type Reflection } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { requestedJob, type SubjectPart } from '../subject/part.ts';

const LONGEST_OUTCOME = 500;

export function requestReflection(slice: Slice, command: CommandOf<'reflection.request'>, env: DecideEnv): Decision {
  const { projectId, reflectionId } = command;
  if (!slice.projects.get(projectId)) return refuse('not_found', `there is no project ${projectId}`);
  if (slice.record('reflection', reflectionId)) return accept();
  const { about, why, facts, files, traceIds, metrics } = command.reflection;
  const reflection: Reflection = {
    noun: 'reflection',
    id: reflectionId,
    projectId,
    about,
    why,
    facts: facts.slice(0, MOST_FACTS),
    files: files.slice(0, 50),
    traceIds: traceIds.slice(0, 100),
    metrics,
    status: 'reflecting',
    result: null,
    prevention: null,
    runId: null,
    lessonId: null,
    outcome: '',
    createdAt: env.now,
    endedAt: null,
  };
  return accept(
    { type: 'reflection.requested', reflectionId, reflection },
    requestedJob(env, { subjectId: reflectionId, mode: 'reflect', input: about.title, by: ENGINE }),
  );
}

export function endReflection(slice: Slice, command: CommandOf<'reflection.end'>): Decision {
  const { projectId, reflectionId, lessonId, taskId } = command;
  const reflection = slice.record('reflection', reflectionId);
  if (reflection?.projectId !== projectId) return refuse('not_found', `there is no reflection ${reflectionId}`);
  if (reflection.status === 'done' || reflection.status === 'failed') return accept();
  if (reflection.status !== 'prevented') return refuse('conflict', `reflection ${reflectionId} is still being written`);
  const outcome = command.outcome.slice(0, LONGEST_OUTCOME);
  const task = taskId === null ? undefined : slice.tasks.get(taskId);
  const isTried = task !== undefined && task.id === reflection.about.id && task.landedCommit === null;
  return accept({
    type: 'reflection.ended',
    reflectionId,
    status: 'done',
    outcome,
    lessonId,
    taskId: isTried ? task.id : null,
    lastAttempt: isTried ? lastAttemptOf(reflection) : null,
  });
}

/** What the next try of the same task is told. */
const lastAttemptOf = ({ why, result, prevention }: Reflection): string =>
  [
    `The last attempt did not succeed: ${why}.`,
    ...(result ? [`The assumption that failed: ${result.assumption}`, `Seen in: ${result.evidence}`] : []),
    ...(prevention ? [`To prevent it: ${prevention.text}`] : []),
  ].join('\n');

/** A reflection as the subject of its two jobs. The second begins in the transaction that ends the first. */
export const reflectionPart: SubjectPart<'reflection'> = {
  jobEnded(_slice, reflection, job, end, env) {
    const { id: reflectionId } = reflection;
    const over = (status: 'done' | 'failed', outcome: string): EventBody[] => [
      {
        type: 'reflection.ended',
        reflectionId,
        status,
        outcome: outcome.slice(0, LONGEST_OUTCOME),
        lessonId: null,
        taskId: null,
        lastAttempt: null,
      },
    ];
    if (reflection.status === 'done' || reflection.status === 'failed') return [];
    if ('why' in end) return over('failed', end.why);
    const { outcome, summary, reflection: result, prevention } = end.envelope;
    if (outcome === 'reflected' && result && job.mode === 'reflect')
      return [
        { type: 'reflection.answered', reflectionId, result },
        requestedJob(env, { subjectId: reflectionId, mode: 'prevent', input: reflection.about.title, by: ENGINE }),
      ];
    if (outcome === 'prevented' && prevention && job.mode === 'prevent')
      return [{ type: 'reflection.prevented', reflectionId, prevention, writtenIn: job.lastRunId }];
    return over('done', `nothing to learn: ${summary}`);
  },
  refusesQuestions: () => 'Nobody answers questions about this. Use the outcome no_lesson if the facts do not tell.',
  resumed: () => [],
};
