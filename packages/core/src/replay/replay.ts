import {
  ENGINE,
  type EventBody,
  MOST_REPLAY_RUNS,
  MOST_VARIANTS,
  type Refusal,
  type Replay,
  type ReplayResult,
  type ReplayRun,
  replayRef,
  replayRunId,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { requestedJob, type SubjectPart } from '../subject/part.ts';
import type { NewReplay } from './commands.ts';

/** More at once would only wait for each other. */
const MOST_OPEN_REPLAYS = 5;

export function startReplay(slice: Slice, command: CommandOf<'replay.start'>, env: DecideEnv): Decision {
  const { projectId, replayId, by } = command;
  if (!slice.projects.get(projectId)) return refuse('not_found', `there is no project ${projectId}`);
  if (slice.record('replay', replayId)) return refuse('conflict', `replay ${replayId} was already started`);
  const wrong = problemOf(command.replay);
  if (wrong) return refuse('bad_input', wrong.message, wrong.hint);
  const known = slice.list('recordsOf', projectId, 'replay').filter((each) => each.noun === 'replay');
  const open = known.filter(({ status }) => status === 'running' || status === 'stopping');
  if (open.length >= MOST_OPEN_REPLAYS)
    return refuse('conflict', `${open.length} replays are running`, 'wait for one of them, or stop it');
  const { purpose, variants, tasks, repeats, withLandedTests, limitUsd } = command.replay;
  const replay: Replay = {
    noun: 'replay',
    id: replayId,
    projectId,
    number: Math.max(0, ...known.map(({ number }) => number)) + 1,
    purpose,
    variants,
    tasks,
    repeats,
    withLandedTests,
    limitUsd,
    status: 'running',
    why: '',
    report: null,
    spentUsd: 0,
    by,
    createdAt: env.now,
    endedAt: null,
  };
  return accept({ type: 'replay.started', replayId, replay, by });
}

function problemOf({ tasks, variants, repeats }: NewReplay): Omit<Refusal, 'code'> | null {
  if (tasks.length === 0)
    return {
      message: 'there is no recorded task to replay',
      hint: 'tasks are recorded when they land; `tidemill replay tasks` lists them',
    };
  if (new Set(tasks.map(({ taskId }) => taskId)).size < tasks.length)
    return { message: 'a task is named twice', hint: 'use --repeat to do each task several times' };
  if (variants.length === 0 || variants.length > MOST_VARIANTS)
    return { message: `a replay has 1 to ${MOST_VARIANTS} variants, not ${variants.length}`, hint: '' };
  const runs = tasks.length * variants.length * repeats;
  if (runs <= MOST_REPLAY_RUNS) return null;
  const hint = 'take fewer tasks, variants or repetitions';
  return { message: `that would be ${runs} runs, and a replay has at most ${MOST_REPLAY_RUNS}`, hint };
}

type Found = { ok: true; replay: Replay } | { ok: false; refusal: Refusal };

function find(slice: Slice, { projectId, replayId }: { projectId: string; replayId: string }): Found {
  const replay = slice.record('replay', replayId);
  if (replay?.projectId === projectId) return { ok: true, replay };
  return { ok: false, refusal: { code: 'not_found', message: `there is no replay ${replayId}`, hint: '' } };
}

export function tryAgain(slice: Slice, command: CommandOf<'replay.try'>, env: DecideEnv): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { replay } = found;
  const { replayId, taskId, variant, repeat } = command;
  const id = replayRunId(replayId, taskId, variant, repeat);
  if (slice.record('replay_run', id)) return accept();
  if (replay.status !== 'running') return refuse('conflict', `${replayRef(replay.number)} is ${replay.status}`);
  const task = replay.tasks.find((each) => each.taskId === taskId);
  const isPlanned = task && variant >= 0 && variant < replay.variants.length && repeat >= 0 && repeat < replay.repeats;
  if (!isPlanned) return refuse('bad_input', `${replayRef(replay.number)} has no such run`);
  const input = `#${task.number} ${task.title}`.slice(0, 300);
  const requested = requestedJob(env, { subjectId: id, mode: 'replay', input, by: ENGINE });
  const { jobId } = requested;
  return accept({ type: 'replay.tried', replayId, replayRunId: id, taskId, variant, repeat, jobId }, requested);
}

export function measureRun(slice: Slice, command: CommandOf<'replay.measure'>): Decision {
  const { projectId, replayRunId: id, jobId = '', token, result } = command;
  const run = slice.record('replay_run', id);
  if (run?.projectId !== projectId || run.jobId !== jobId) return refuse('not_found', `there is no replay run ${id}`);
  if (slice.record('job', jobId)?.lease?.token !== token)
    return refuse('stale_lease', `${id} is no longer leased by this worker`);
  return accept(...measured(run, result));
}

/** The first result counts. */
const measured = (run: ReplayRun, result: ReplayResult): EventBody[] =>
  run.result === null ? [{ type: 'replay.measured', replayId: run.replayId, replayRunId: run.id, result }] : [];

export function stopReplay(slice: Slice, command: CommandOf<'replay.stop'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { number, status } = found.replay;
  const { replayId, why, by } = command;
  if (status !== 'running') return refuse('conflict', `${replayRef(number)} is already ${status}`);
  return accept({ type: 'replay.stopping', replayId, number, why, by });
}

export function endReplay(slice: Slice, command: CommandOf<'replay.end'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { number, status } = found.replay;
  const { replayId, report, spentUsd } = command;
  if (status === 'done' || status === 'stopped') return accept();
  if (slice.list('openRecordsOf', replayId).some(({ noun }) => noun === 'replay_run'))
    return refuse('conflict', `runs of ${replayRef(number)} have not ended`);
  const end = status === 'stopping' ? 'stopped' : 'done';
  return accept({ type: 'replay.ended', replayId, number, status: end, report, spentUsd });
}

/** A run of a replay as the subject of its job. */
export const replayRunPart: SubjectPart<'replay_run'> = {
  /** Without a measurement, the machine, the vendor or a person ended it: it says nothing about the variant. */
  jobEnded(_slice, run, _job, end) {
    const why = 'why' in end ? end.why : 'it ended without a measurement';
    const nothing = { verdict: 'void' as const, tries: 0, isFirstTry: false, gates: [], runId: null };
    return measured(run, { ...nothing, why: why.slice(0, 500), costUsd: null, tokens: 0, durationMs: 0 });
  },
  refusesQuestions: () => 'This task was done before. Nobody answers questions about it: decide yourself.',
  resumed: () => [],
};
