import type { AskedQuestion, Question } from '@tidemill/contract';

/** What happens in a project that may be worth a question, and what is known when it does. */
export interface TriggerFacts {
  /** An agent cannot go on and did not say what it needs to know. */
  missing_context: { number: number; title: string; missing: string };
  /** A task was blocked because its agent failed, the gates failed, or nothing changed from try to try. */
  task_failed_repeatedly: { number: number; title: string; error: string; runs: number; tried: string };
  /** The same, when several gates fail at once. */
  multiple_failures: { number: number; title: string; count: number; failing: string };
  /** A run took or cost a multiple of what runs of its kind usually do. */
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

/** The questions that Tidemill asks by itself, from data files. */
export interface Catalogue {
  raise<T extends Trigger>(trigger: T, facts: TriggerFacts[T]): RaisedQuestion[];
}
