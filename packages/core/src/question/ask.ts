import {
  type Answer,
  type AskedQuestion,
  type EventBody,
  engineActor,
  type Preference,
  type Project,
  type Question,
  type StoredRecord,
  type Task,
} from '@tidemill/contract';
import { checkFence, findTask } from '../check-fence.ts';
import type { Asker, CommandOf, DecideEnv, Decision } from '../command.ts';
import { type Lookup, look } from '../lookup.ts';
import { fingerprintOf } from '../pipeline/fingerprint.ts';
import { canPark, parked } from '../pipeline/park.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { holding } from '../subject/questions.ts';
import { isFitting, questionFingerprint } from './learned.ts';
import { ASKED_AGAIN_MS, BATCH_MS, defaultOf, timesOf } from './life.ts';
import { answerNote } from './note.ts';

/**
 *   asked ──answer by a person, a learned default──▶ answered
 *     └─── expires ──▶ answered by its default, or dismissed
 *     └─── its task ends ──▶ withdrawn
 * A question that `holds` stops its task. The task continues when all such questions are answered.
 */
export interface Asking extends Asker {
  project: Project;
  task: Task | null;
  /** What is asked about, if it is neither a task nor the project. */
  subjectId?: string | null;
  runId: string | null;
  stage: string;
  /** Holds the task, whatever the type: the agent said that it cannot continue. */
  holdsAlways: boolean;
  /** Questions asked earlier in the same decision, so that no two have the same number. */
  askedJustNow?: number;
}

export interface AskResult {
  events: EventBody[];
  /** Open questions that hold the task now, including earlier ones. */
  holding: { id: string; text: string }[];
  asked: number;
  /** How many were answered immediately by learned defaults. */
  answered: number;
}

export function askAll(slice: Slice, asking: Asking, questions: readonly AskedQuestion[], env: DecideEnv): AskResult {
  const result: AskResult = { events: [], holding: openBefore(slice, asking), asked: 0, answered: 0 };
  const seen = new Set<string>();
  let batchId: string | null = null;
  for (const asked of questions) {
    // A catalogue fills figures into the same question.
    const fingerprint =
      asking.source === 'catalogue'
        ? fingerprintOf('question', asked.text, env.hash)
        : questionFingerprint(asked.text, env.hash);
    if (seen.has(fingerprint)) continue;
    seen.add(fingerprint);
    const before = askedBefore(slice, asking, fingerprint, env.now);
    if (before) {
      if (asking.holdsAlways || asked.type === 'blocking') hold(slice, before, result);
      continue;
    }
    const number = (asking.askedJustNow ?? 0) + result.asked + 1;
    const question = questionFrom(slice, asking, asked, { fingerprint, number }, env);
    batchId ??= batchOf(slice, question) ?? question.id;
    const whole: Question = { ...question, batchId };
    result.asked += 1;
    result.events.push({ type: 'question.asked', taskId: whole.taskId, question: whole });
    if (whole.isDefaultLearned && whole.type !== 'blocking') answerFromMemory(asking, whole, result, env);
    else if (whole.holds) result.holding.push({ id: whole.id, text: whole.text });
  }
  return result;
}

/** What holds the task, or the subject, already. */
function openBefore(slice: Slice, { task, subjectId }: Asking): AskResult['holding'] {
  if (task) return [...task.openQuestions];
  if (!subjectId) return [];
  return holding(slice, subjectId, '').map(({ id, text }) => ({ id, text }));
}

/** The same question, asked within a day or still open. */
function askedBefore(
  slice: Slice,
  { task, subjectId, project, effect }: Asking,
  fingerprint: string,
  now: number,
): string | null {
  if (task) {
    const before = task.asked[fingerprint];
    if (!before) return null;
    const isOpen = slice.openRecord('question', before.questionId)?.status === 'open';
    // A task may be silent again after an answer. The supervisor decides when to ask.
    const isRecent = effect?.kind !== 'stuck' && now - before.at < ASKED_AGAIN_MS;
    return isOpen || isRecent ? before.questionId : null;
  }
  // A question that was withdrawn was never answered.
  const isRecent = ({ status, askedAt }: Question) => status !== 'withdrawn' && now - askedAt < ASKED_AGAIN_MS;
  const same = askedAbout(slice, subjectId ?? project.id).find(
    (other) => other.fingerprint === fingerprint && (other.status === 'open' || isRecent(other)),
  );
  return same?.id ?? null;
}

/** Makes an open question hold the task. */
function hold(slice: Slice, questionId: string, { events, holding }: AskResult): void {
  const question = slice.openRecord('question', questionId);
  if (question?.status !== 'open' || question.holds || question.taskId === null) return;
  events.push({ type: 'question.held', taskId: question.taskId, questionId, text: question.text });
  holding.push({ id: questionId, text: question.text });
}

function answerFromMemory({ task }: Asking, question: Question, result: AskResult, env: DecideEnv): void {
  const text = question.defaultAnswer!;
  const option = question.options.find(({ label }) => label === text)?.label ?? null;
  const answer: Answer = { text, option, source: 'learned', by: engineActor('learned'), at: env.now };
  result.answered += 1;
  result.events.push({ type: 'question.answered', taskId: question.taskId, questionId: question.id, answer });
  if (task) result.events.push(answerNote(task, question, answer));
}

function questionFrom(
  slice: Slice,
  {
    project,
    task,
    subjectId = null,
    runId,
    stage,
    holdsAlways,
    agent,
    source,
    sourceId,
    effect = { kind: 'none' },
  }: Asking,
  asked: AskedQuestion,
  { fingerprint, number }: { fingerprint: string; number: number },
  env: DecideEnv,
): Question {
  // A question whose answer has an effect gets no learned default.
  const learned =
    effect.kind === 'none'
      ? preferencesOf(slice, project.id).find((each) => each.isActive && isFitting(each, asked, env.hash))
      : undefined;
  const id = env.newId('question');
  const ref = task ? `Q${task.number}.${task.questionCount + number}` : `Q${project.nextQuestion + number - 1}`;
  const { type, text, context, options, allowFreeText, tags } = asked;
  return {
    noun: 'question',
    id,
    ref,
    ownId: asked.id || null,
    projectId: project.id,
    taskId: task?.id ?? null,
    subjectId,
    runId,
    source,
    sourceId,
    agent,
    stage,
    effect,
    type,
    text,
    context,
    options,
    allowFreeText,
    tags,
    fingerprint,
    batchId: id,
    defaultAnswer: learned?.answer ?? defaultOf(asked),
    isDefaultLearned: learned !== undefined,
    // A question about a stuck task ends when the task moves again.
    holds: (task ?? subjectId) !== null && effect.kind !== 'stuck' && (type === 'blocking' || holdsAlways),
    askedAt: env.now,
    ...timesOf(asked, env.now),
    reminders: 0,
    status: 'open',
    answer: null,
  };
}

/** Enough for the open ones and those of the last day: a catalogue asks each question once a day. */
const NEWEST_QUESTIONS = 500;

const isQuestion = (record: StoredRecord) => record.noun === 'question';

/** The newest questions about the project itself, or about a subject. */
const askedAbout = (slice: Slice, id: string): Question[] =>
  slice.list('newestRecordsOf', id, 'question', NEWEST_QUESTIONS).filter(isQuestion);

/** Questions about a subject: counted by the project, and compared with the same question asked before. */
export const askingSubject = ({ projectId, subjectId }: { projectId: string; subjectId: string }): Lookup[] => [
  look('lockedProject', projectId),
  look('newestRecordsOf', subjectId, 'question', NEWEST_QUESTIONS),
];

export const openQuestionsOf = (slice: Slice, taskId: string): Question[] =>
  slice.list('openRecordsOf', taskId).filter(isQuestion);

export const preferencesOf = (slice: Slice, projectId: string): Preference[] =>
  slice.list('recordsOf', projectId, 'preference').filter((record) => record.noun === 'preference');

/** The batch of a recent question of the same agent in the same stage. */
function batchOf(slice: Slice, question: Question): string | null {
  const { taskId, subjectId, projectId } = question;
  const others = taskId === null ? askedAbout(slice, subjectId ?? projectId) : openQuestionsOf(slice, taskId);
  const recent = others.find(
    (other) =>
      other.status === 'open' &&
      other.agent === question.agent &&
      other.stage === question.stage &&
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
  // The task is over, so the answer is not needed.
  if (task?.stage === 'done' || task?.stage === 'cancelled') return accept();
  if (task === null && isTooSoon(slice, command, env.now)) return accept();
  // The task is no longer blocked.
  if (command.effect?.kind === 'unblock' && task?.stage !== 'blocked') return accept();
  const { agent, source, sourceId, effect, stage, subjectId } = command;
  const asker = { agent, source, sourceId, effect, stage };
  const asking = { ...asker, project, task, subjectId, runId: null, holdsAlways: false };
  const { events, holding } = askAll(slice, asking, command.questions, env);
  const isHeld = task !== null && holding.length > 0 && task.lease === null && canPark(task);
  return accept(...events, ...(isHeld ? [parked(task, task.stage, holding)] : []));
}

/** A catalogue entry is asked about a project or a subject once a day, even with other words. */
function isTooSoon(slice: Slice, command: CommandOf<'question.ask'>, now: number): boolean {
  const { projectId, subjectId, source, sourceId } = command;
  return (
    source === 'catalogue' &&
    askedAbout(slice, subjectId ?? projectId).some(
      (other) => other.source === source && other.sourceId === sourceId && now - other.askedAt < ASKED_AGAIN_MS,
    )
  );
}

/** Asked by an agent during its run. The task is parked at the end of the run if the question is still open. */
export function askInRun(slice: Slice, command: CommandOf<'run.ask'>, env: DecideEnv): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const run = slice.runs.ifLoaded(command.runId);
  if (run?.status !== 'running' || task.lastRunId !== run.id)
    return refuse('conflict', `run ${command.runId} is not running`);
  const source = run.mode === 'plan' || run.mode === 'plan_revision' ? 'plan' : 'execute';
  const asker = { agent: run.agent, source, sourceId: task.id } as const;
  const asking = { ...asker, project, task, runId: run.id, stage: task.stage, holdsAlways: false };
  return accept(...askAll(slice, asking, command.questions, env).events);
}
