export { alertId } from './alert/alert.ts';
export type { NewNotification } from './alert/commands.ts';
export * from './alert/routing.ts';
export { exhaustedPeriod, howToRaise } from './budget/budget.ts';
export { Calendars } from './budget/calendar.ts';
export { budgetAccountOf } from './budget/period.ts';
export { viewAccount } from './budget/view.ts';
export { type CategoryState, chooseCategory, type Rest, restOf, scoreOf, weightOf } from './category/choose.ts';
export { codeBlock } from './code-block.ts';
export * from './command.ts';
export { mayRetryIdle } from './conflict/conflict.ts';
export {
  type FileVersion,
  type FoundLoss,
  type MergedFile,
  mergeLosses,
  type ResolvedMerge,
} from './conflict/loss/file-loss.ts';
export { type LineIndex, lineIndex } from './conflict/loss/token.ts';
export { decide } from './decide.ts';
export { type ReleasedTask, releaseText } from './delivery/release.ts';
export { environmentOf, strictest, unknownEnvironment } from './delivery/rules.ts';
export { evenCap } from './even-cap.ts';
export type { ComparedWork } from './forecast/commands.ts';
export { isLarger } from './forecast/larger.ts';
export { type ComingWork, comingText } from './forecast/words.ts';
export { approvedBlindness, blindnessOf } from './gate/blindness.ts';
export {
  type ChangedFile,
  type CheckCommand,
  type Deciding,
  type FileFact,
  pathOf,
} from './gate/deciding/changed-file.ts';
export { manifestsOf, namedPaths } from './gate/deciding/command.ts';
export { decidingFiles, isLookedInto, LARGEST_LOOKED_INTO } from './gate/deciding/deciding.ts';
export { isCode, isOfTests, isTestFile } from './gate/deciding/names.ts';
export type { GateReads } from './gate/deciding/observed.ts';
export { casesIn } from './gate/deciding/test-change.ts';
export { CHAIN_START, chainFaults, evidenceHash, newestByGate } from './gate/evidence.ts';
export { fewerTests, hasFewerTests, isComparedWith } from './gate/fewer-tests.ts';
export { nearTo } from './gate/mutants/concern.ts';
export { isEmptyResult, type Mutant, mutantsOf, mutantText, planted } from './gate/mutants/mutants.ts';
export {
  addedLines,
  isTested,
  looksAround,
  looksAtItself,
  plantable,
  reachOf,
  testedStems,
  touchesTests,
} from './gate/mutants/source.ts';
export { brokenTogether } from './gate/mutants/together.ts';
export { checksApproval, isAcceptedFailure, isChecksApproved, judgedFor, oldCheckFindings } from './gate/old-checks.ts';
export { ownFileAdvice, settingHints } from './gate/own-file.ts';
export { missingProgram, redAdvice } from './gate/red-advice.ts';
export { isSource, sourceGlobs } from './gate/source.ts';
export { TASK_GATE_MS, type TaskGate, taskGates } from './gate/task-gate.ts';
export { isErrorLine, tellingLines } from './gate/telling-lines.ts';
export { agreedContents, agreementTo, type WorkflowFile, workflowFiles } from './gate/workflow-files.ts';
export { type Deeds, deriveGuard } from './guard-proposal/derive.ts';
export { isPerson } from './guard-proposal/guard-proposal.ts';
export { tokensOf } from './hand-off/distil.ts';
export { isTimedOut } from './hand-off/job.ts';
export * from './health/examine.ts';
export type { LastError } from './health/failed-runs.ts';
export { type HealthFinding, SUPERVISED_KINDS } from './health/finding.ts';
export { silenceLimitMs, stuckAction } from './health/stuck.ts';
export { type HeldTasks, REVIEW_LONG_MS, type WaitingReview } from './health/waiting.ts';
export { workerHealth } from './health/worker-health.ts';
export { artifactTitle } from './idea/brief.ts';
export { ideaFiles, ideaFolder } from './idea/files.ts';
export { isResearch } from './idea/signals.ts';
export { isHeldStart, type StartHolds } from './lease/held-start.ts';
export { FOR_OTHERS, HEARTBEAT_MS, LEASE_CAP_MS } from './lease/lease.ts';
export { isOutsideOwner, mayHandle, outsideOwner, outsideRefusal } from './lease/outside.ts';
export {
  actionOf,
  fitsLesson,
  fittingLessons,
  isHeldBack,
  type LessonQuestion,
  uncertainLessons,
  withinBudget,
} from './lesson/choose.ts';
export { lackForInstructions } from './lesson/lesson.ts';
export { isUnfit, problemOfLesson } from './lesson/problem.ts';
export { baseRateOf, boundsOf, ratedRuns } from './lesson/rate.ts';
export { alikeLessons, twinOf } from './lesson/similar.ts';
export { SUPERSEDING, SupersededEvents } from './log/superseded.ts';
export {
  declared,
  keyOf,
  keysFor,
  LOOKUPS,
  type Lookup,
  type LookupName,
  merged,
} from './lookup.ts';
export { approvalOf, isFilling } from './loop/balance.ts';
export { type LoopFigures, pauseReason } from './loop/pause-reason.ts';
export { diagnoseStall, isStalled, isWorking, STALL_MS, type StallSight } from './loop/stall.ts';
export { type CheckVerdict, forgeWaitsFor, judgeChecks, OWN_CHECKS } from './merge/checks.ts';
export { builtinPipelines } from './pipeline/builtin.ts';
export { checkPipeline, type PipelineFault } from './pipeline/check.ts';
export { failureText, fingerprintOf, SAME_FAILURE_LIMIT } from './pipeline/fingerprint.ts';
export { type JudgedBy, judgedBy } from './pipeline/judged-by.ts';
export { isOpenConflict, whyForPerson } from './pipeline/open-conflict.ts';
export type { FoundConflict } from './pipeline/overtaken.ts';
export {
  isInfrastructure,
  isResumable,
  maxValidationRetries,
  needsPerson,
  VENDOR_WAIT_MS,
} from './pipeline/policy.ts';
export { isReviewed } from './pipeline/review.ts';
export { sentence } from './pipeline/sentence.ts';
export { gatesOf, modeOf, stageOf } from './pipeline/stage.ts';
export { APPROVE, SEND_BACK, STUCK_CHOICES } from './question/effect.ts';
export { questionFingerprint } from './question/learned.ts';
export { foldersOf, isManifest, touchesOf } from './question/touches.ts';
export { CANDIDATES, type Ranked, rankCandidates, type WordMatch } from './record-search/rank.ts';
export {
  askedWords,
  codedTags,
  nounWord,
  type Searchable,
  scopeTag,
  searchableOf,
} from './record-search/searchable.ts';
export { reduce } from './reduce.ts';
export type { NewReflection } from './reflection/commands.ts';
export { unwrap } from './refusal.ts';
export type { NewReplay } from './replay/commands.ts';
export { meanOf, reportOf, shareOf } from './replay/figures.ts';
export { LEAST_HELD_OUT, type LessonTrial, promptTrialOf, trialOf } from './replay/verdict.ts';
export { CITATION_RULE, citesSomething, type ShownChange } from './run/citation.ts';
export { outcomesOf, problemOfResult, type ResultExpectation } from './run/result.ts';
export { decideLock, type LockDecision } from './schedule/file-lock.ts';
export { landingOrder, wouldOvertake } from './schedule/landing-order.ts';
export { scopesOverlap } from './schedule/overlap.ts';
export { claimOrder, isReady } from './schedule/ready.ts';
export { scopeOf } from './scope.ts';
export { DUPLICATE, RELATED, SimilarWork } from './similarity/similar-work.ts';
export { Rows, Slice } from './slice.ts';
export { isBesideCode } from './spec/beside.ts';
export { abortReason, type BuildState, buildState, requirementProgress, workedTime } from './spec/build.ts';
export { asksFirst } from './spec/ended.ts';
export { critiqueOf } from './spec/find.ts';
export { gotchasFor } from './spec/gotchas.ts';
export { creationsOf, followUps } from './spec/tasks.ts';
export { specDiff } from './spec-document/diff.ts';
export { isOpenPoints, SPEC_HEADINGS, type SpecSection, specSection, unescapedText } from './spec-document/headings.ts';
export { migrationOf, nextMigrations, sameNumber } from './spec-document/migration.ts';
export { inBuildOrder } from './spec-document/order.ts';
export { readinessOf } from './spec-document/readiness.ts';
export { renderSpec, renderTasks, specDocument, taskBody } from './spec-document/render.ts';
export { specFaults } from './spec-document/validate.ts';
export * from './tables.ts';
export { criteriaOf } from './task/criteria.ts';
export { movesOf } from './task/move.ts';
export { movedOn } from './task/steer.ts';
export { wayBack } from './task/unread.ts';
export type { Drawn } from './trace/drawn.ts';
export { drawTrace, type EventFacts, TRACED_EVENTS } from './trace/of-event.ts';
export { traceId, traceOf } from './trace/of-log.ts';
export { patternId } from './trace/pattern.ts';
export {
  caseOf,
  mayBeGuarded,
  mayBeLesson,
  type RepeatedCase,
  repeatedLesson,
  suggestionOf,
} from './trace/repeated.ts';
export { contentText, itemBody, itemTitle, kindOfLabels, priorityOf, priorityOfItem } from './tracker/content.ts';
export {
  categoryLabel,
  type OutsideState,
  type OutsideStatus,
  OWN_LABEL,
  outsideStateOf,
  STATE_LABELS,
} from './tracker/outside.ts';
export { quietText, withoutClosingKeywords } from './tracker/quiet.ts';
export { asksForWork, wordsOf } from './tracker/words.ts';
export { aboutWork, isJob, LEASE_MS, nameOf, type Work } from './work.ts';
export { workerStatus } from './worker/status.ts';
