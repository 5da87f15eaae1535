import type { Trigger, TriggerFacts } from '../ports.ts';

/** The triggers that the engine raises, with their facts. A fact's name is its placeholder in a text. */
export const WIRED: { [T in Trigger]: (keyof TriggerFacts[T] & string)[] } = {
  missing_context: ['number', 'title', 'missing'],
  task_failed_repeatedly: ['number', 'title', 'error', 'runs', 'tried'],
  multiple_failures: ['number', 'title', 'count', 'failing'],
  security_vulnerability: ['number', 'title', 'gate', 'kind', 'severity', 'where', 'details'],
  coverage_below_threshold: ['number', 'title', 'coverage', 'threshold', 'uncovered'],
  task_complexity_exceeded: ['number', 'title', 'times', 'expected', 'actual'],
  milestone_reached: ['name', 'done', 'total', 'percent'],
  requirement_ambiguous: ['requirement', 'term'],
  multiple_architectures: [
    ...(['feature', 'first', 'first_pros', 'first_cons', 'first_effort'] as const),
    ...(['second', 'second_pros', 'second_cons', 'second_effort'] as const),
  ],
  before_finalize_spec: ['in_scope', 'out_of_scope'],
  external_dependencies: ['dependencies'],
  spec_complete: ['tasks', 'complexity', 'risks', 'critic'],
  multiple_implementations: ['number', 'title', 'question', 'first', 'second', 'recommendation'],
  validation_passed: ['number', 'title', 'gates', 'checks'],
  idea_created: ['title'],
  problem_statement_vague: ['title', 'problem', 'length'],
  phase_complete: ['title', 'phase', 'settled'],
  idea_complexity_high: ['title', 'complexity'],
  before_research: ['title', 'areas'],
  pattern_detected: ['pattern', 'count', 'where', 'confidence'],
  gotcha_candidate: ['gotcha', 'context', 'impact'],
  claude_md_promotion: ['pattern', 'count', 'confidence', 'file', 'addition'],
  reflection_offer: ['about', 'reason', 'usd'],
  weekly_summary: ['patterns', 'gotchas', 'total', 'top'],
};

/** Nothing raises them: every gate runs on every change, so nobody has to choose a level, and there is no test of usability yet. */
const PLANNED = [
  'validation_level_needed',
  'before_ux_testing',
  'usability_concern',
  'accessibility_violation',
  'ux_testing_complete',
];

export const TRIGGER_NAMES = [...Object.keys(WIRED), ...PLANNED];
export const isWired = (trigger: string): trigger is Trigger => Object.hasOwn(WIRED, trigger);
