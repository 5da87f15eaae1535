import type { AskedQuestion, Question } from '@tidemill/contract';

/** The triggers of questions, with their facts. */
export interface TriggerFacts {
  /** An agent needs information but asked no question. */
  missing_context: { number: number; title: string; missing: string };
  /** A task was blocked because its agent failed, gates failed, or there was no progress. */
  task_failed_repeatedly: { number: number; title: string; error: string; runs: number; tried: string };
  /** The same, when several gates fail at once. */
  multiple_failures: { number: number; title: string; count: number; failing: string };
  /** A run took or cost a multiple of the average. */
  task_complexity_exceeded: { number: number; title: string; times: number; expected: string; actual: string };
  /** Half of all tasks are done, or all of them. */
  milestone_reached: { done: number; total: number; percent: number };
  /** Work has landed with every gate passed. */
  validation_passed: { number: number; title: string; gates: number; checks: string };
}

export type Trigger = keyof TriggerFacts;

export interface RaisedQuestion {
  question: AskedQuestion;
  effect: Question['effect'];
}

/** The questions that Tidemill itself asks, from data files. */
export interface Catalogue {
  raise<T extends Trigger>(trigger: T, facts: TriggerFacts[T]): RaisedQuestion[];
}
