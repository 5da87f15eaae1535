import type { AskedQuestion, Question } from '@tidemill/contract';

/** The triggers of questions, with their facts. */
export interface TriggerFacts {
  /** An agent needs information but asked no question. */
  missing_context: { number: number; title: string; missing: string };
  /** A task was blocked because its agent failed, gates failed, or there was no progress. */
  task_failed_repeatedly: { number: number; title: string; error: string; runs: number; tried: string };
  /** The same, when several gates fail at once. */
  multiple_failures: { number: number; title: string; count: number; failing: string };
  /** The same, when a gate found something that endangers security. `where`: empty, or the file and line. */
  security_vulnerability: {
    number: number;
    title: string;
    gate: string;
    kind: string;
    severity: string;
    where: string;
    details: string;
  };
  /** Work has landed with less of it tested than the project wants. */
  coverage_below_threshold: { number: number; title: string; coverage: number; threshold: number; uncovered: string };
  /** A run took or cost a multiple of the average. */
  task_complexity_exceeded: { number: number; title: string; times: number; expected: string; actual: string };
  /** Half of all tasks are done, or all of them. */
  /** `name`: of the specification; empty for all tasks of the project. */
  milestone_reached: { name: string; done: number; total: number; percent: number };
  /** Something in a requirement can be understood in several ways. */
  requirement_ambiguous: { requirement: string; term: string };
  /** There are two good ways to build something. */
  multiple_architectures: {
    feature: string;
    first: string;
    first_pros: string;
    first_cons: string;
    first_effort: string;
    second: string;
    second_pros: string;
    second_cons: string;
    second_effort: string;
  };
  /** A specification has a scope, and no tasks yet. */
  before_finalize_spec: { in_scope: string; out_of_scope: string };
  /** A specification needs something from outside the project. */
  external_dependencies: { dependencies: string };
  /** A specification can be approved. */
  /** `critic`: what a critic said about it, or why none did. */
  spec_complete: { tasks: number; complexity: string; risks: string; critic: string };
  /** An agent that builds asks which of two ways to take. */
  multiple_implementations: {
    number: number;
    title: string;
    question: string;
    first: string;
    second: string;
    recommendation: string;
  };
  /** Work has landed with every gate passed. */
  validation_passed: { number: number; title: string; gates: number; checks: string };
  /** A conversation about an idea began. */
  idea_created: { title: string };
  /** The problem that an idea solves is described in a few words. */
  problem_statement_vague: { title: string; problem: string; length: number };
  /** An idea has completed a phase. */
  phase_complete: { title: string; phase: string; settled: string };
  /** The agent finds an idea hard to build, from 0 to 10. */
  idea_complexity_high: { title: string; complexity: number };
  /** The agent wants facts from outside. */
  before_research: { title: string; areas: string };
  /** A lesson was seen in a second task. */
  pattern_detected: { pattern: string; count: number; where: string; confidence: number };
  /** An agent recorded a lesson. */
  gotcha_candidate: { gotcha: string; context: string; impact: string };
  /** A lesson in production is certain enough for the instructions of all agents. */
  claude_md_promotion: { pattern: string; count: number; confidence: number; file: string; addition: string };
  /** Work did not go as planned, and nobody has said whether an agent may be asked why. */
  reflection_offer: { about: string; reason: string; usd: string };
  /** Something was learned in the last week. */
  weekly_summary: { patterns: number; gotchas: number; total: number; top: string };
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
