export { alertId } from './alert/alert.ts';
export type { NewNotification } from './alert/commands.ts';
export * from './alert/routing.ts';
export { exhaustedPeriod, howToRaise } from './budget/budget.ts';
export { Calendars } from './budget/calendar.ts';
export { budgetAccountOf } from './budget/period.ts';
export { viewAccount } from './budget/view.ts';
export * from './command.ts';
export { decide } from './decide.ts';
export { workerHealth } from './fleet/health.ts';
export { workerStatus } from './fleet/status.ts';
export type { ChangedFile, CheckCommand, Deciding, FileFact } from './gate/deciding/changed-file.ts';
export { manifestsOf } from './gate/deciding/command.ts';
export { decidingFiles, isLookedInto, LARGEST_LOOKED_INTO } from './gate/deciding/deciding.ts';
export { CHAIN_START, chainFaults, evidenceHash, newestByGate } from './gate/evidence.ts';
export * from './health/examine.ts';
export { stuckAction } from './health/stuck.ts';
export type { WaitGraph } from './health/wait-graph.ts';
export { FOR_OTHERS, HEARTBEAT_MS, LEASE_CAP_MS } from './lease/lease.ts';
export { isOutsideOwner, mayHandle, outsideOwner, outsideRefusal } from './lease/outside.ts';
export {
  declared,
  keyOf,
  keysFor,
  LOOKUPS,
  type Lookup,
  type LookupName,
  merged,
} from './lookup.ts';
export { builtinPipelines } from './pipeline/builtin.ts';
export { checkPipeline, type PipelineFault } from './pipeline/check.ts';
export { failureText, fingerprintOf, SAME_FAILURE_LIMIT } from './pipeline/fingerprint.ts';
export { isOpenConflict, whyForPerson } from './pipeline/open-conflict.ts';
export {
  isInfrastructure,
  isResumable,
  MAX_VALIDATION_RETRIES,
  needsPerson,
  VENDOR_WAIT_MS,
} from './pipeline/policy.ts';
export { isReviewed } from './pipeline/review.ts';
export { sentence } from './pipeline/sentence.ts';
export { gatesOf, modeOf, stageOf } from './pipeline/stage.ts';
export { APPROVE, SEND_BACK, STUCK_CHOICES } from './question/effect.ts';
export { touchesOf } from './question/touches.ts';
export { reduce } from './reduce.ts';
export { unwrap } from './refusal.ts';
export { CITATION_RULE, citesSomething, type ShownChange } from './run/citation.ts';
export { evenCap } from './run/even-cap.ts';
export { outcomesOf, problemOfResult, type ResultExpectation } from './run/result.ts';
export { decideLock, type LockDecision } from './schedule/file-lock.ts';
export { claimOrder, isReady } from './schedule/ready.ts';
export { scopeOf } from './scope.ts';
export { Rows, Slice } from './slice.ts';
export * from './tables.ts';
export { criteriaOf } from './task/criteria.ts';
export { movesOf } from './task/move.ts';
export { movedOn } from './task/steer.ts';
export { aboutWork, isJob, LEASE_MS, nameOf, type Work } from './work.ts';
