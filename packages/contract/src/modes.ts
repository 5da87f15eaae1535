import type { SubjectKind } from './subject.ts';

const MINUTE = 60_000;

interface ModeTraits {
  /** What its runs are about. */
  subject: SubjectKind;
  /** Where its runs work: in the task's worktree, or in an empty folder that is removed afterwards. */
  place: 'worktree' | 'scratch';
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
}

export type ResultField = 'plan' | 'planSummary' | 'investigationSummary' | 'subtasks' | 'review';

const reading = { subject: 'task', place: 'worktree', writes: false, role: 'builder', limitMs: 10 * MINUTE } as const;
const planning = {
  ...reading,
  turns: 100,
  firstGuessUsd: 0.5,
  outcomes: ['plan_complete'],
  fields: ['plan', 'planSummary', 'subtasks'],
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
  fields: [],
} as const;

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
    fields: ['plan', 'investigationSummary', 'subtasks'],
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
export const isReadOnly = (mode: ModeName): boolean => !MODES[mode].writes;
