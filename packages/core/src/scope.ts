import type { RecordNoun, Role } from '@tidemill/contract';
import type { Command, CommandOf, CommandType } from './command.ts';
import type { CommandPart } from './noun.ts';
import { commands } from './nouns.ts';

/**
 * The rows a command reads, so that a store can load and lock exactly those before `decide` runs.
 * Locks are taken in the order of the fields, ids ascending: two transactions cannot wait for each other.
 */
export interface Scope {
  /** Read only: rules. */
  projects: string[];
  /** Locked: counters and the head of the evidence chain. */
  lockedProjects: string[];
  workers: string[];
  /** Tasks leased by these workers, looked up only after `workers` are locked. Not locked themselves. */
  leasedBy: string[];
  tasks: string[];
  /** Tasks that depend on these, looked up only after `tasks` are locked (else a decrement gets lost). */
  dependentsOf: string[];
  /** The newest run of each of these tasks. */
  lastRunsOf: string[];
  ready: { projectId: string; role: Role; limit: number }[];
  /** How many conflicts of these projects wait for a person. Not locked. */
  openConflicts: string[];
  /** Leased tasks with a file scope, of these projects. Not locked. */
  scopedRunning: string[];
  evidence: { projectId: string; tree: string }[];
  /**
   * Dependency edges of all tasks that are not done, for the cycle check: a cancelled task can come back. Looked up
   * only after `lockedProjects` are locked, and not locked themselves.
   */
  edges: string[];
  /** Locked, after everything above. */
  records: string[];
  /** Open records of these tasks, looked up only after `tasks` are locked, and locked. */
  openRecordsOf: string[];
  /** Read only. */
  readRecords: string[];
  /** Records of a noun, at most PROJECT_RECORDS of them, the last by id. Not locked. */
  projectRecords: { projectId: string; noun: RecordNoun }[];
}
export const PROJECT_RECORDS = 500;

/** One thing to look up for a command. */
export type Lookup = { [F in keyof Scope]: { find: F; by: Scope[F][number] } }[keyof Scope];

export function emptyScope(): Scope {
  return {
    projects: [],
    lockedProjects: [],
    workers: [],
    leasedBy: [],
    tasks: [],
    dependentsOf: [],
    lastRunsOf: [],
    ready: [],
    openConflicts: [],
    scopedRunning: [],
    evidence: [],
    edges: [],
    records: [],
    openRecordsOf: [],
    readRecords: [],
    projectRecords: [],
  };
}

export function scopeOf<T extends CommandType>(command: CommandOf<T>): Scope {
  const scope = emptyScope();
  scope.projects.push((command as Command).projectId);
  const part = commands[(command as Command).type] as CommandPart<T>;
  for (const { find, by } of part.scope(command)) (scope[find] as unknown[]).push(by);
  return scope;
}
