import type { Trigger, TriggerFacts } from '../ports.ts';

/** The triggers that the engine raises, with their facts. A fact's name is its placeholder in a text. */
export const WIRED: { [T in Trigger]: (keyof TriggerFacts[T] & string)[] } = {
  missing_context: ['number', 'title', 'missing'],
  task_failed_repeatedly: ['number', 'title', 'error', 'runs', 'tried'],
  multiple_failures: ['number', 'title', 'count', 'failing'],
  task_complexity_exceeded: ['number', 'title', 'times', 'expected', 'actual'],
  milestone_reached: ['done', 'total', 'percent'],
  validation_passed: ['number', 'title', 'gates', 'checks'],
};

/** Triggers of parts of Tidemill that do not exist yet: nothing raises them. */
const PLANNED = [
  'idea_created',
  'problem_statement_vague',
  'phase_complete',
  'idea_complexity_high',
  'before_research',
  'requirement_ambiguous',
  'multiple_architectures',
  'before_finalize_spec',
  'external_dependencies',
  'spec_complete',
  'multiple_implementations',
  'validation_level_needed',
  'security_vulnerability',
  'coverage_below_threshold',
  'before_ux_testing',
  'usability_concern',
  'accessibility_violation',
  'ux_testing_complete',
  'pattern_detected',
  'gotcha_candidate',
  'claude_md_promotion',
  'weekly_summary',
];

export const TRIGGER_NAMES = [...Object.keys(WIRED), ...PLANNED];
export const isWired = (trigger: string): trigger is Trigger => Object.hasOwn(WIRED, trigger);
