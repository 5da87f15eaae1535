import type { EventType } from '@tidemill/contract';
import { type AlertCommands, alertCommands } from './alert/commands.ts';
import { alertEvents } from './alert/events.ts';
import { type BudgetCommands, budgetCommands } from './budget/commands.ts';
import { budgetEvents } from './budget/events.ts';
import { categoryEvents } from './category/events.ts';
import type { CommandType } from './command.ts';
import { type ConflictCommands, conflictCommands } from './conflict/commands.ts';
import { conflictEvents } from './conflict/events.ts';
import { type DeliveryCommands, deliveryCommands } from './delivery/commands.ts';
import { deliveryEvents } from './delivery/events.ts';
import { type FeedbackCommands, feedbackCommands } from './feedback/commands.ts';
import { feedbackEvents } from './feedback/events.ts';
import { type ForecastCommands, forecastCommands } from './forecast/commands.ts';
import { forecastEvents } from './forecast/events.ts';
import { type GateCommands, gateCommands } from './gate/commands.ts';
import { gateEvents } from './gate/events.ts';
import { type GuardProposalCommands, guardProposalCommands } from './guard-proposal/commands.ts';
import { guardProposalEvents } from './guard-proposal/events.ts';
import { type IdeaCommands, ideaCommands } from './idea/commands.ts';
import { ideaEvents } from './idea/events.ts';
import { type JobCommands, jobCommands } from './job/commands.ts';
import { jobEvents } from './job/events.ts';
import { type LeaseCommands, leaseCommands } from './lease/commands.ts';
import { leaseEvents } from './lease/events.ts';
import { type LessonCommands, lessonCommands } from './lesson/commands.ts';
import { lessonEvents } from './lesson/events.ts';
import { type LoopCommands, loopCommands } from './loop/commands.ts';
import { loopEvents } from './loop/events.ts';
import { type MergeCommands, mergeCommands } from './merge/commands.ts';
import { mergeEvents } from './merge/events.ts';
import type { CommandParts, Reduction, Reductions } from './noun.ts';
import { type ProjectCommands, projectCommands } from './project/commands.ts';
import { projectEvents } from './project/events.ts';
import { type PromptChangeCommands, promptChangeCommands } from './prompt-change/commands.ts';
import { promptChangeEvents } from './prompt-change/events.ts';
import { type ProposalCommands, proposalCommands } from './proposal/commands.ts';
import { proposalEvents } from './proposal/events.ts';
import { type QuestionCommands, questionCommands } from './question/commands.ts';
import { questionEvents } from './question/events.ts';
import { type ReflectionCommands, reflectionCommands } from './reflection/commands.ts';
import { reflectionEvents } from './reflection/events.ts';
import { type ReplayCommands, replayCommands } from './replay/commands.ts';
import { replayEvents } from './replay/events.ts';
import { type RunCommands, runCommands } from './run/commands.ts';
import { runEvents } from './run/events.ts';
import { type SpecCommands, specCommands } from './spec/commands.ts';
import { specEvents } from './spec/events.ts';
import { type StageCommands, stageCommands } from './stage/commands.ts';
import { type TaskCommands, taskCommands } from './task/commands.ts';
import { taskEvents } from './task/events.ts';
import { type TokenCommands, tokenCommands } from './token/commands.ts';
import { tokenEvents } from './token/events.ts';
import { type TraceCommands, traceCommands } from './trace/commands.ts';
import { traceEvents } from './trace/events.ts';
import { type TrackerItemCommands, trackerItemCommands } from './tracker/commands.ts';
import { trackerItemEvents } from './tracker/events.ts';
import { type WorkerCommands, workerCommands } from './worker/commands.ts';
import { workerEvents } from './worker/events.ts';

/** The commands of each noun. */
export interface Commands
  extends ProjectCommands,
    WorkerCommands,
    TaskCommands,
    LeaseCommands,
    RunCommands,
    JobCommands,
    IdeaCommands,
    StageCommands,
    GateCommands,
    MergeCommands,
    ConflictCommands,
    ForecastCommands,
    QuestionCommands,
    AlertCommands,
    TokenCommands,
    SpecCommands,
    FeedbackCommands,
    LoopCommands,
    ProposalCommands,
    LessonCommands,
    TraceCommands,
    ReplayCommands,
    ReflectionCommands,
    PromptChangeCommands,
    GuardProposalCommands,
    TrackerItemCommands,
    DeliveryCommands,
    BudgetCommands {}

/** Every command, by noun. A command without a scope and a decision does not compile. */
export const commands: CommandParts<CommandType> = {
  ...projectCommands,
  ...workerCommands,
  ...taskCommands,
  ...leaseCommands,
  ...runCommands,
  ...jobCommands,
  ...ideaCommands,
  ...stageCommands,
  ...gateCommands,
  ...mergeCommands,
  ...conflictCommands,
  ...forecastCommands,
  ...questionCommands,
  ...alertCommands,
  ...budgetCommands,
  ...tokenCommands,
  ...specCommands,
  ...feedbackCommands,
  ...loopCommands,
  ...proposalCommands,
  ...lessonCommands,
  ...traceCommands,
  ...replayCommands,
  ...reflectionCommands,
  ...promptChangeCommands,
  ...guardProposalCommands,
  ...trackerItemCommands,
  ...deliveryCommands,
};

/** The reducers of events, in this order. Accounts come before runs: they need a run's previous cost. */
const followers = [
  budgetEvents,
  projectEvents,
  taskEvents,
  leaseEvents,
  runEvents,
  jobEvents,
  ideaEvents,
  gateEvents,
  mergeEvents,
  conflictEvents,
  forecastEvents,
  questionEvents,
  alertEvents,
  tokenEvents,
  specEvents,
  feedbackEvents,
  workerEvents,
  loopEvents,
  categoryEvents,
  proposalEvents,
  lessonEvents,
  traceEvents,
  replayEvents,
  reflectionEvents,
  promptChangeEvents,
  guardProposalEvents,
  trackerItemEvents,
  deliveryEvents,
] as const satisfies readonly Reductions[];

type Followed<F> = F extends unknown ? keyof F : never;
/** An event without a reducer does not compile. */
type Unfollowed = Exclude<EventType, Followed<(typeof followers)[number]>>;
const everyEventIsFollowed: [Unfollowed] extends [never] ? true : Unfollowed = true;

export const reductions: ReadonlyMap<EventType, readonly Reduction<EventType>[]> =
  everyEventIsFollowed && byEvent(followers);

function byEvent(all: readonly Reductions[]): Map<EventType, Reduction<EventType>[]> {
  const found = new Map<EventType, Reduction<EventType>[]>();
  for (const each of all)
    for (const [type, reduction] of Object.entries(each) as [EventType, Reduction<EventType>][])
      found.set(type, [...(found.get(type) ?? []), reduction]);
  return found;
}
