import type { SubjectKind } from './subject.ts';

const MINUTE = 60_000;

interface ModeTraits {
  /** What its runs are about. */
  subject: SubjectKind;
  /**
   * Where its runs work: in the task's worktree, in a clean checkout of the target whose changes are thrown away, in an
   * empty folder that is removed afterwards, or in a repository of its own that ends at an earlier commit.
   */
  place: 'worktree' | 'checkout' | 'scratch' | 'bench';
  /** Whether its runs may change files there. Changes by runs of other modes are undone. */
  writes: boolean;
  /** The role that takes it. */
  role: 'builder' | 'reviewer';
  limitMs: number;
  turns: number;
  /** The expected cost of a run without data on similar runs. */
  firstGuessUsd: number;
  /** The outcomes it may propose. `needs_info` and `failed` are always possible. The first one is success. */
  outcomes: readonly [string, ...string[]];
  /** What its result has besides outcome, summary and questions. */
  fields: readonly ResultField[];
  /** The name of the note that later runs of the task get about it. */
  note: string;
  /** The mode whose entry in `agents` it uses when it has none. */
  continues?: string;
  /** Its jobs are taken only by a worker that has nothing else to do. */
  isBackground?: true;
}

export type ResultField =
  | 'plan'
  | 'planSummary'
  | 'investigationSummary'
  | 'subtasks'
  | 'criteria'
  | 'review'
  | 'declares'
  | 'decisions'
  | 'unresolved'
  | 'discoveries'
  | JobField;
/** The result of a job. Each one belongs to a noun, which has its schema. */
export type JobField =
  | 'ideation'
  | 'spec'
  | 'critique'
  | 'judgement'
  | 'analysis'
  | 'proposal'
  | 'reflection'
  | 'prevention';

const reading = { subject: 'task', place: 'worktree', writes: false, role: 'builder', limitMs: 10 * MINUTE } as const;
const planning = {
  ...reading,
  turns: 100,
  firstGuessUsd: 0.5,
  outcomes: ['plan_complete'],
  fields: ['plan', 'planSummary', 'subtasks', 'criteria', 'declares', 'decisions', 'unresolved'],
} as const;
const building = {
  subject: 'task',
  place: 'worktree',
  writes: true,
  role: 'builder',
  limitMs: 30 * MINUTE,
  turns: 200,
  firstGuessUsd: 1,
  outcomes: ['pr_ready', 'no_changes'],
  fields: ['declares', 'decisions', 'unresolved', 'discoveries'],
} as const;

const thinking = {
  place: 'checkout',
  writes: false,
  role: 'builder',
  limitMs: 10 * MINUTE,
  turns: 100,
  firstGuessUsd: 0.5,
} as const;
const learning = {
  subject: 'reflection',
  place: 'scratch',
  writes: false,
  role: 'reviewer',
  limitMs: 5 * MINUTE,
  turns: 10,
  firstGuessUsd: 0.1,
  isBackground: true,
} as const;
const specifying = { ...thinking, subject: 'spec', outcomes: ['spec_ready'], fields: ['spec'] } as const;

/**
 * What agents do. A mode is an entry here and a prompt in `prompts/agents/<mode>.md`. This file imports nothing, so that
 * the scripted agent starts quickly.
 */
export const MODES = {
  plan: { ...planning, note: 'plan_summary' },
  plan_revision: { ...planning, note: 'plan_revision_summary', continues: 'plan' },
  investigate: {
    ...reading,
    turns: 100,
    firstGuessUsd: 0.5,
    outcomes: ['investigation_complete'],
    fields: ['plan', 'investigationSummary', 'subtasks', 'criteria', 'declares', 'decisions', 'unresolved'],
    note: 'investigation_summary',
  },
  implement: { ...building, note: 'implementation_summary' },
  request_changes: { ...building, note: 'fix_summary', continues: 'implement' },
  review: {
    ...reading,
    role: 'reviewer',
    turns: 50,
    firstGuessUsd: 0.5,
    outcomes: ['approved', 'changes_requested'],
    fields: ['review'],
    note: 'review',
  },
  /** Shows whether an agent works here: `tidemill agents test`. */
  trial: {
    subject: 'project',
    place: 'scratch',
    writes: true,
    role: 'builder',
    limitMs: 5 * MINUTE,
    turns: 30,
    firstGuessUsd: 0.5,
    outcomes: ['pr_ready'],
    fields: [],
    note: 'trial_summary',
  },
  /** Replies in the conversation about an idea. */
  ideate: {
    ...thinking,
    subject: 'idea',
    turns: 50,
    outcomes: ['replied'],
    fields: ['ideation'],
    note: 'reply',
  },
  specify: { ...specifying, note: 'spec_summary' },
  /** The first specification of a new repository. */
  initialize: { ...specifying, note: 'spec_summary', continues: 'specify' },
  /** Looks for what is wrong with a draft before a person reads it. */
  critique: {
    ...thinking,
    subject: 'spec',
    role: 'reviewer',
    turns: 50,
    outcomes: ['critiqued'],
    fields: ['critique'],
    note: 'critique_summary',
    continues: 'review',
  },
  /** Checks the requirements of a specification against the landed code. */
  judge: {
    ...thinking,
    subject: 'spec',
    role: 'reviewer',
    turns: 50,
    outcomes: ['judged'],
    fields: ['judgement'],
    note: 'judgement_summary',
    continues: 'review',
  },
  /** Finds out what a piece of feedback asks for. */
  analyse: {
    ...thinking,
    subject: 'feedback',
    turns: 50,
    outcomes: ['analysed'],
    fields: ['analysis'],
    note: 'analysis_summary',
  },
  /** Proposes an improvement in one category. */
  propose: {
    ...thinking,
    subject: 'category',
    turns: 50,
    outcomes: ['proposed', 'no_idea'],
    fields: ['proposal'],
    note: 'proposal_summary',
  },
  /** Says which assumption failed in work that did not go as planned. It gets the facts and needs no code. */
  reflect: { ...learning, outcomes: ['reflected', 'no_lesson'], fields: ['reflection'], note: 'reflection' },
  /** Says how to prevent it, apart from that: an explanation and a remedy from one call excuse each other. */
  prevent: {
    ...learning,
    outcomes: ['prevented', 'no_lesson'],
    fields: ['prevention'],
    note: 'prevention',
    continues: 'reflect',
  },
  /** Does a recorded task again, with the builder's prompt. Nothing lands. */
  replay: {
    ...building,
    subject: 'replay',
    place: 'bench',
    note: 'replay_summary',
    continues: 'implement',
    isBackground: true,
  },
} as const satisfies Record<string, ModeTraits>;

export type ModeName = keyof typeof MODES;
/** Modes of a pipeline's stages. The others are the modes of jobs. */
export type TaskModeName = {
  [M in ModeName]: (typeof MODES)[M]['subject'] extends 'task' ? M : never;
}[ModeName];
export type JobMode = Exclude<ModeName, TaskModeName>;

const names = Object.keys(MODES) as ModeName[];
const isOfTask = (mode: ModeName): mode is TaskModeName => MODES[mode].subject === 'task';
export const MODE_NAMES: readonly ModeName[] = names;
export const TASK_MODES: readonly TaskModeName[] = names.filter(isOfTask);
export const JOB_MODES: readonly JobMode[] = names.filter((mode): mode is JobMode => !isOfTask(mode));

/** Whether its runs change a task's code. */
export const isBuilding = (mode: ModeName): boolean => MODES[mode].writes && MODES[mode].place === 'worktree';
/** Whether its runs think about coming work: ideas, specifications, feedback, proposals. */
export const isIdeating = (mode: ModeName): boolean => MODES[mode].place === 'checkout';
/** Whether it has a prompt of its own. A replay uses the builder's. */
export const hasPrompt = (mode: ModeName): boolean => MODES[mode].place !== 'bench';
/** Whether its jobs wait until no task is ready. */
export const isBackground = (mode: ModeName): boolean => 'isBackground' in MODES[mode];
export const isReadOnly = (mode: ModeName): boolean => !MODES[mode].writes;
