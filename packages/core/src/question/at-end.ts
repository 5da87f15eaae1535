import type { AskedQuestion, EventBody, Project, Run, Task } from '@tidemill/contract';
import type { CommandOf, DecideEnv } from '../command.ts';
import type { End } from '../pipeline/end-stage.ts';
import { arePlansReviewed } from '../pipeline/enter.ts';
import { judgedBy } from '../pipeline/judged-by.ts';
import { canPark, parked } from '../pipeline/park.ts';
import { stageNamed } from '../pipeline/stage.ts';
import type { Slice } from '../slice.ts';
import { withdrawn } from './answer.ts';
import { type About, approvalFor, blocking } from './approval.ts';
import { type Asking, type AskResult, askAll, openQuestionsOf } from './ask.ts';
import { criteriaEffect, criteriaQuestion } from './criteria.ts';

interface RunEnd {
  slice: Slice;
  project: Project;
  task: Task;
  run: Run;
  command: CommandOf<'run.finish'>;
  end: End;
  /** The events without any questions. */
  after: EventBody[];
  env: DecideEnv;
}

/**
 * The end of a run with its questions. A question that holds parks the task; it resumes in its next stage. An agent that
 * could not finish without an answer has not failed.
 */
export function askAtEnd(runEnd: RunEnd): EventBody[] {
  const { slice, task, run, command, end, after, env } = runEnd;
  const needsInfo = end.outcome === 'needs_info';
  const asking = askingOf(runEnd, needsInfo);
  const own = askAll(slice, asking, questionsOf(command, needsInfo, end.message), env);
  own.events.unshift(...noLongerStuck(slice, task));
  if (needsInfo || (end.outcome === 'failed' && own.holding.length > 0)) {
    if (own.holding.length > 0) return [...own.events, parked(task, task.stage, own.holding)];
    // Answered immediately by learned defaults: the next run gets the answers.
    if (own.answered > 0) return own.events;
    // It repeats questions that were just answered: another run would not help.
    const text = `The agent repeats questions that were already answered: ${end.message}`;
    return [...own.events, { type: 'task.blocked', taskId: task.id, from: task.stage, reason: 'no_progress', text }];
  }
  const stage = stageAfter(task, after);
  const approval = approvalOf(runEnd, stage, { ...asking, askedJustNow: own.asked });
  const asked = own.asked + approval.events.filter(({ type }) => type === 'question.asked').length;
  const criteria = criteriaAsked(runEnd, { ...asking, askedJustNow: asked });
  const holding = [...own.holding, ...approval.holding, ...criteria.holding];
  const events = [...after, ...own.events, ...approval.events, ...criteria.events];
  return holding.length > 0 && canPark({ stage }) && end.outcome !== 'failed'
    ? [...events, parked({ ...task, id: run.subjectId }, stage, holding)]
    : events;
}

function noLongerStuck(slice: Slice, task: Task): EventBody[] {
  return openQuestionsOf(slice, task.id)
    .filter(({ effect, holds }) => effect.kind === 'stuck' && !holds)
    .map((question) => withdrawn(question, 'its run has ended'));
}

function questionsOf({ envelope }: CommandOf<'run.finish'>, needsInfo: boolean, message: string): AskedQuestion[] {
  const questions = envelope?.open_questions ?? [];
  if (questions.length > 0 || !needsInfo) return questions;
  return [blocking(message || 'The agent needs more information, but did not say which.')];
}

function askingOf({ project, task, run }: RunEnd, holdsAlways: boolean): Asking {
  const source = run.mode === 'plan' || run.mode === 'plan_revision' ? 'plan' : 'execute';
  return { project, task, runId: run.id, stage: run.stage, holdsAlways, agent: run.agent, source, sourceId: task.id };
}

const PLANNED = ['plan_complete', 'investigation_complete'];

/** Matters in the change that need an approval or a notice, and a plan that no later stage shows to a person. */
function approvalOf(
  { slice, project, task, command, end, env }: RunEnd,
  next: string,
  asking: Asking,
): Pick<AskResult, 'events' | 'holding'> {
  const isPlan = PLANNED.includes(end.outcome);
  if (end.outcome !== 'pr_ready' && !isPlan) return { events: [], holding: [] };
  const { envelope, touches: contents = {}, touchedFiles: files } = command;
  // There a person sees the plan, with what it declares.
  if (isPlan && stageNamed(project.rules, task, next)?.actor === 'human') return { events: [], holding: [] };
  const plan = isPlan && arePlansReviewed(project.rules, task) ? planOf(envelope, end.message) : null;
  const change = { contents, files, declared: envelope?.declares ?? {}, message: end.message, plan };
  return approvalFor({ slice, project, task, env }, { ...change, sendBackTo: task.stage, isNew: true }, asking);
}

/** The plan as a person reads it: first what was found, then what is to be done. */
function planOf(envelope: CommandOf<'run.finish'>['envelope'], message: string): string {
  const { investigationSummary = '', planSummary = '', plan = '' } = envelope ?? {};
  const parts = [investigationSummary || planSummary, plan].filter((part) => part.trim() !== '');
  return parts.join('\n\n') || message || 'The agent gave no plan.';
}

/** A plan is complete, and the task needs criteria from a person before it is built. */
function criteriaAsked(
  { slice, project, task, run, command, end, env }: RunEnd,
  asking: Asking,
): Pick<AskResult, 'events' | 'holding'> {
  const isPlanned = end.outcome === 'plan_complete' || end.outcome === 'investigation_complete';
  const isPlanner = run.mode === 'plan' || run.mode === 'plan_revision' || run.mode === 'investigate';
  if (!isPlanned || !isPlanner || judgedBy(project.rules, task) !== 'asked') return { events: [], holding: [] };
  const effect = criteriaEffect(command.envelope?.criteria);
  const about = { agent: 'engine', source: 'engine' as const, effect, task: { ...task, openQuestions: [] } };
  return askAll(slice, { ...asking, ...about }, [criteriaQuestion(task, effect)], env);
}

/**
 * The end of the verify stage. Files may have changed since the run's end, for example by a worker outside the daemon.
 * The verified content is compared with the approved content again.
 */
export function askAfterProof(
  about: About,
  command: CommandOf<'stage.finish'>,
  after: EventBody[],
  sendBackTo: string,
): EventBody[] {
  const { project, task } = about;
  const stage = stageAfter(task, after);
  if (!canPark({ stage })) return after;
  // Asked while the gates ran.
  const waiting = task.openQuestions.length > 0 ? [...after, parked(task, stage, task.openQuestions)] : after;
  if (command.outcome !== 'approved' || !command.touches) return waiting;
  const { touches: contents, touchedFiles: files, message = '' } = command;
  const change = { contents, files, declared: {}, message, plan: null, sendBackTo, isNew: false };
  const origin = { agent: 'engine', source: 'engine', sourceId: task.id } as const;
  const asking = { project, task, runId: null, stage: task.stage, holdsAlways: false, ...origin };
  const { events, holding } = approvalFor(about, change, asking);
  const holders = [...task.openQuestions, ...holding];
  return holding.length > 0 ? [...after, ...events, parked(task, stage, holders)] : waiting;
}

/** The stage after these events. */
export function stageAfter(task: Task, events: EventBody[]): string {
  let stage = task.stage;
  for (const event of events) {
    if (event.type === 'task.moved' && event.taskId === task.id) stage = event.to;
    if (event.type === 'task.blocked' && event.taskId === task.id) stage = 'blocked';
  }
  return stage;
}
