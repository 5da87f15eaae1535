import type { AskedQuestion, EventBody, Project, Question, Task } from '@tidemill/contract';
import type { Asker, CommandOf, DecideEnv, Decision } from '../command.ts';
import { fenced, findTask } from '../lease/fence.ts';
import { accept, refuse } from '../refusal.ts';
import { fingerprintOf } from '../run/fingerprint.ts';
import type { Slice } from '../slice.ts';
import { ASKED_AGAIN_MS, BATCH_MS, defaultOf, timesOf } from './life.ts';

/**
 *   asked ──answer by a person, a learned default──▶ answered
 *     └─── its time is up ──▶ answered by its default, or dismissed
 *     └─── its task is gone ──▶ withdrawn
 * A question that `holds` keeps its task still until it is answered; the task goes on when all of them are.
 */
export interface Asking extends Asker {
  project: Project;
  task: Task | null;
  runId: string | null;
  stage: string;
  /** Holds the task whatever its type: the agent said that it cannot go on. */
  holdsAlways: boolean;
}

export interface Asked {
  events: EventBody[];
  /** Open questions that hold the task now, the ones asked before included. */
  holding: { id: string; text: string }[];
}

export function askAll(slice: Slice, asking: Asking, questions: AskedQuestion[], env: DecideEnv): Asked {
  const events: EventBody[] = [];
  const holding = [...(asking.task?.openQuestions ?? [])];
  const seen = new Set<string>();
  let batchId: string | null = null;
  for (const asked of questions) {
    const fingerprint = fingerprintOf('question', asked.text, env.hash);
    const before = asking.task?.asked[fingerprint];
    if (seen.has(fingerprint) || (before && env.now - before.at < ASKED_AGAIN_MS)) continue;
    seen.add(fingerprint);
    const question = questionFrom(slice, asking, asked, fingerprint, env);
    batchId ??= batchOf(slice, question);
    const whole: Question = { ...question, batchId: batchId ?? question.id };
    batchId = whole.batchId;
    events.push({ type: 'question.asked', taskId: whole.taskId, question: whole });
    if (whole.isDefaultLearned && whole.type !== 'blocking') {
      const answer = {
        text: whole.defaultAnswer!,
        option: null,
        source: 'learned' as const,
        by: 'learned',
        at: env.now,
      };
      events.push({ type: 'question.answered', taskId: whole.taskId, questionId: whole.id, answer });
    } else if (whole.holds) {
      holding.push({ id: whole.id, text: whole.text });
    }
  }
  return { events, holding };
}

function questionFrom(
  slice: Slice,
  { project, task, runId, stage, holdsAlways, agent, source, sourceId, effect }: Asking,
  asked: AskedQuestion,
  fingerprint: string,
  env: DecideEnv,
): Question {
  const learned = slice
    .recordsOf('preference', project.id)
    .find((preference) => preference.isActive && preference.fingerprint === fingerprint);
  const id = env.newId('question');
  const { type, text, context, options, allowFreeText, tags } = asked;
  return {
    ...{ noun: 'question', id, projectId: project.id, taskId: task?.id ?? null, runId, source, sourceId, agent, stage },
    ...{ type, text, context, options, allowFreeText, tags, fingerprint, batchId: id },
    defaultAnswer: learned?.answer ?? defaultOf(asked),
    isDefaultLearned: learned !== undefined,
    holds: task !== null && (type === 'blocking' || holdsAlways),
    effect: effect ?? { kind: 'none' },
    askedAt: env.now,
    ...timesOf(asked, env.now),
    ...{ reminders: 0, status: 'open', answer: null },
  };
}

/** The batch of a question that the same agent asked in the same stage a moment ago. */
function batchOf(slice: Slice, question: Question): string | null {
  const recent = slice
    .recordsOf('question', question.projectId)
    .find(
      (other) =>
        other.status === 'open' &&
        other.agent === question.agent &&
        other.stage === question.stage &&
        other.taskId === question.taskId &&
        question.askedAt - other.askedAt < BATCH_MS,
    );
  return recent?.batchId ?? null;
}

/** Asked by the engine, the supervisor or a catalogue, about a task or about the project. */
export function askQuestion(slice: Slice, command: CommandOf<'question.ask'>, env: DecideEnv): Decision {
  const project = slice.projects.get(command.projectId);
  if (!project) return refuse('not_found', `there is no project ${command.projectId}`);
  const found = command.taskId === null ? null : findTask(slice, { ...command, taskId: command.taskId });
  if (found && !found.ok) return found;
  const task = found?.task ?? null;
  const { agent, source, sourceId, effect, stage } = command;
  const asking = { agent, source, sourceId, effect, stage, project, task, runId: null, holdsAlways: false };
  const { events, holding } = askAll(slice, asking, command.questions, env);
  const isHeld = task !== null && holding.length > 0 && task.lease === null && canPark(task);
  return accept(...events, ...(isHeld ? [parked(task, task.stage, holding)] : []));
}

/** Asked by an agent while it works. The task is parked when the run ends, if it still needs the answer then. */
export function askInRun(slice: Slice, command: CommandOf<'run.ask'>, env: DecideEnv): Decision {
  const checked = fenced(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const run = slice.runs.get(command.runId);
  if (run?.status !== 'running' || task.lastRunId !== run.id)
    return refuse('conflict', `run ${command.runId} is not under way`);
  const asker = { agent: run.agent, source: 'execute', sourceId: task.id } as const;
  const asking = { ...asker, project, task, runId: run.id, stage: task.stage, holdsAlways: false };
  return accept(...askAll(slice, asking, command.questions, env).events);
}

export const canPark = ({ stage }: Pick<Task, 'stage'>) =>
  !['done', 'cancelled', 'blocked', 'needs_info'].includes(stage);

export function parked(task: Task, from: string, holding: { text: string }[]): EventBody {
  return { type: 'task.parked', taskId: task.id, from, questions: holding.map(({ text }) => text) };
}
