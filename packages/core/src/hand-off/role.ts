import type { HandOffRole, Mode } from '@tidemill/contract';

/** The role that works in a mode. */
export const ROLE_OF: Record<Mode, HandOffRole> = {
  plan: 'planner',
  plan_revision: 'planner',
  investigate: 'planner',
  implement: 'builder',
  request_changes: 'builder',
  review: 'reviewer',
  trial: 'builder',
  ideate: 'ideation',
  specify: 'specification',
  initialize: 'initializer',
  critique: 'critic',
  judge: 'judge',
  analyse: 'analyst',
  propose: 'proposer',
  replay: 'builder',
  reflect: 'learner',
  prevent: 'learner',
};
