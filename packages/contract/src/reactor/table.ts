import type { EventType } from '../event/event.ts';
import { type EventRouteRow, ROUTER_EVENTS } from '../event-routing/table.ts';

/** A part of the daemon that follows the log or the clock: what it follows, for which role, and what it does. */
interface ReactorTraits {
  /** Who acts. A role in lower case: a person, the engine, or the role of an agent or worker. */
  role: string;
  on: readonly EventType[];
  /** What it follows besides events. */
  clock?: string;
  does: string;
  /** It moves no work on: a project is idle although it has not handled the whole log. */
  isBackground?: true;
}

/**
 * The reactors and the events each of them gets: the reactors take their list from here. An event that does not exist does
 * not compile, nor does a reactor of the engine without a row.
 */
export const REACTORS = {
  router: {
    role: 'engine',
    on: [...ROUTER_EVENTS, 'project.configured'],
    does: 'Passes work to the next role, as the routes say',
  },
  jobs: {
    role: 'builder, reviewer',
    on: ['job.requested', 'job.postponed', 'job.ended', 'lease.claimed', 'lease.released'],
    clock: 'when a postponed job is due; once an hour for those that nobody took in time',
    does: 'Lets an idle worker take the job',
  },
  workers: {
    role: 'engine',
    on: ['worker.registered', 'worker.removed', 'worker.steered'],
    does: 'Starts, pauses and stops workers',
  },
  heartbeats: { role: 'engine', on: [], clock: 'every 30 s', does: 'Records that the workers live' },
  'session-files': {
    role: 'engine',
    on: [
      'worker.registered',
      'worker.removed',
      'worker.steered',
      'worker.beat',
      'worker.crashed',
      'worker.reset',
      'lease.claimed',
      'lease.released',
      'run.started',
      'run.finished',
      'merge.landed',
    ],
    does: 'Keeps a file per worker for other programs',
    isBackground: true,
  },
  leases: {
    role: 'engine',
    on: ['lease.released', 'task.counters_reset'],
    does: 'Stops an agent that lost its lease; tries resting agents again',
  },
  'lease-expiry': { role: 'engine', on: [], clock: 'every minute', does: 'Takes back leases that nobody renews' },
  supervision: {
    role: 'supervisor',
    on: [],
    clock: 'every minute',
    does: 'Finds stuck, waiting and deadlocked work: raises and closes alerts, asks, interrupts, reassigns',
  },
  landings: {
    role: 'supervisor',
    on: ['task.waiting'],
    clock: 'every 5 s while something waits',
    does: 'Watches what keeps finished work from landing',
  },
  tripwires: {
    role: 'engine',
    on: ['merge.landed'],
    clock: 'every 10 minutes',
    does: 'Looks for faults that the gates notice; checks slow gates after a landing',
    isBackground: true,
  },
  worktrees: {
    role: 'engine',
    on: ['task.moved', 'conflict.aborted'],
    clock: 'every ten minutes',
    does: 'Removes worktrees that nobody needs',
    isBackground: true,
  },
  'conflict-forecast': {
    role: 'engine',
    on: ['work.committed', 'merge.landed', 'task.moved', 'conflict.aborted'],
    clock: 'every minute',
    does: 'Records coming conflicts at both tasks',
    isBackground: true,
  },
  'conflict-retry': {
    role: 'engine',
    on: ['merge.landed', 'task.blocked'],
    clock: 'every minute',
    does: 'Tries blocked conflicts again when nothing can overtake them',
  },
  'conflict-recovery': {
    role: 'engine',
    on: [],
    clock: 'every minute',
    does: 'Finishes conflicts cut short by a crash',
  },
  spending: {
    role: 'supervisor',
    on: ['budget.threshold_reached', 'budget.limited', 'project.configured'],
    does: 'Raises alerts about money; stops what exceeds a budget',
  },
  'question-times': {
    role: 'engine',
    on: ['question.asked', 'question.answered', 'question.closed', 'question.reminded'],
    clock: 'when a question is due',
    does: 'Reminds of questions; takes their defaults',
  },
  lessons: {
    role: 'engine',
    on: ['run.finished', 'merge.landed', 'task.moved'],
    does: 'Counts how runs ended that were given lessons',
  },
  memory: {
    role: 'engine',
    on: ['lesson.recorded', 'lesson.confirmed', 'lesson.contradicted', 'lesson.refused', 'question.answered'],
    clock: 'every hour',
    does: 'Asks about what was learned, sums up each week, and tells when learning goes wrong',
  },
  'catalogue-triggers': {
    role: 'engine',
    on: ['task.blocked', 'task.moved', 'merge.landed', 'run.spent', 'run.finished', 'question.answered'],
    does: 'Asks what the catalogue has for a failure, a milestone or a landing',
  },
  'idea-questions': {
    role: 'engine',
    on: ['idea.created', 'idea.replied', 'idea.advanced'],
    does: "Asks what the catalogue has for an idea's phase",
  },
  'idea-research': {
    role: 'ideation',
    on: ['idea.replied', 'question.answered', 'question.closed'],
    does: 'Searches for what an idea needs to know, if a provider is set',
  },
  'idea-files': {
    role: 'engine',
    on: [
      'idea.created',
      'idea.replied',
      'idea.advanced',
      'idea.corrected',
      'idea.signal_removed',
      'idea.researched',
      'idea.paused',
      'idea.resumed',
      'idea.archived',
    ],
    clock: 'a minute after a failure',
    does: 'Keeps the documents of ideas as files',
    isBackground: true,
  },
  specs: {
    role: 'specification, judge',
    on: [
      'spec.drafted',
      'spec.critiqued',
      'spec.asked',
      'spec.settled',
      'spec.approved',
      'spec.building',
      'spec.resumed',
      'spec.extended',
      'spec.judged',
      'spec.aborted',
      'spec.failed',
      'spec.rejected',
      'question.answered',
      'question.closed',
      'task.moved',
      'task.blocked',
    ],
    clock: 'every minute while one is built',
    does: 'Asks what a draft leaves open, watches the building, has each requirement checked',
  },
  loop: {
    role: 'proposer',
    on: [
      'loop.switched',
      'category.used',
      'category.rested',
      'proposal.made',
      'proposal.checked',
      'proposal.accepted',
      'proposal.refused',
      'proposal.scored',
      'proposal.ended',
      'project.configured',
      'task.created',
      'task.edited',
      'task.moved',
      'run.finished',
      'job.ended',
      'lease.claimed',
    ],
    clock: 'every minute',
    does: 'Proposes improvements while the queue is low, if the loop is on',
  },
  'guard-learning': {
    role: 'engine',
    on: ['trace.stored'],
    does: 'Proposes a guard when the same thing was done wrong three times',
  },
  'lesson-drafts': {
    role: 'engine',
    on: ['trace.stored'],
    does: 'Drafts a lesson when the same failure, correction or refusal happened three times',
  },
  'guard-proposals': {
    role: 'person',
    on: [
      'guard_proposal.proposed',
      'guard_proposal.observing',
      'guard_proposal.edited',
      'guard_proposal.enforced',
      'guard_proposal.refused',
      'guard_proposal.withdrawn',
      'guard_proposal.bypassed',
    ],
    clock: 'every 15 s',
    does: 'Keeps the files of proposed guards, and tells people which wait for them',
  },
  'own-sessions': {
    role: 'person',
    on: ['question.asked', 'question.answered', 'question.closed', 'task.blocked'],
    clock: 'every minute, and when the daemon stops',
    does: "Keeps what a person's own session is told at its start",
    isBackground: true,
  },
  traces: {
    role: 'engine',
    on: [
      'guard.denied',
      'evidence.recorded',
      'run.finished',
      'task.blocked',
      'task.moved',
      'task.noted',
      'task.feedback_given',
      'task.matter_approved',
      'question.asked',
      'question.answered',
      'feedback.given',
      'spec.approved',
      'spec.rejected',
      'spec.revision_requested',
      'spec.accepted',
      'proposal.accepted',
      'proposal.refused',
      'idea.corrected',
      'conflict.settled',
    ],
    clock: 'every minute',
    does: 'Records what can be learned from: corrections, violations, decisions, failures',
  },
  reflections: {
    role: 'learner',
    on: ['task.moved', 'task.blocked', 'spec.judged', 'spec.accepted', 'reflection.prevented', 'question.answered'],
    does: 'Asks what can be learned when work did not go as planned, if a person or the settings allow it; records the lesson',
  },
  promotions: {
    role: 'learner',
    on: [
      'replay.ended',
      'lesson.confirmed',
      'lesson.settled',
      'lesson.advanced',
      'lesson.retired',
      'question.answered',
    ],
    clock: 'every hour',
    does: 'Tries lessons on recorded tasks, if promotion is on; decides by the figures; asks about AGENTS.md; takes back what stopped paying',
  },
  'prompt-changes': {
    role: 'learner',
    on: ['replay.ended'],
    clock: 'every 10 minutes',
    does: 'Says what a replay showed about a proposed prompt; rolls an applied one back when its figures fall',
  },
  replays: {
    role: 'engine',
    on: ['replay.started', 'replay.measured', 'replay.stopping'],
    does: 'Has recorded tasks done again, one run after the other, and ends the replay',
  },
  'tracker-sync': {
    role: 'engine',
    on: ['tracker_item.taken', 'tracker_item.followed', 'tracker_item.refused'],
    clock: 'every 20 s, or as configured; at once by a webhook',
    does: 'Reads the issues or files that become tasks, if a tracker is configured',
    isBackground: true,
  },
  'tracker-publish': {
    role: 'engine',
    on: [
      'task.created',
      'task.moved',
      'task.blocked',
      'task.parked',
      'task.waiting',
      'task.feedback_given',
      'task.criteria_judged',
      'lease.claimed',
      'merge.offered',
      'merge.landed',
      'proposal.accepted',
      'tracker_item.taken',
      'tracker_item.offered',
    ],
    clock: 'when a failed write is due',
    does: 'Writes labels, status and one comment to the tracker; closes what has landed',
    isBackground: true,
  },
  deliveries: {
    role: 'engine',
    on: [
      'merge.landed',
      'spec.judged',
      'spec.accepted',
      'delivery.requested',
      'delivery.approved',
      'delivery.moved',
      'delivery.stopping',
      'delivery.ended',
      'project.configured',
    ],
    does: 'Delivers what landed, checks it, rolls back what fails',
  },
  landed: { role: 'engine', on: [], clock: 'every minute', does: 'Compares the target with the log' },
  outages: {
    role: 'engine',
    on: [],
    clock: 'every 2 s while one lasts',
    does: 'Waits for a repository or a disk to come back',
  },
  'pull-requests': {
    role: 'engine',
    on: ['task.moved'],
    clock: 'every 30 s while one is open (pullRequest.poll), or when a webhook says so',
    does: 'Wakes tasks when their pull requests change; takes those of cancelled ones out of the merge queue',
    isBackground: true,
  },
  remote: { role: 'engine', on: [], clock: 'every minute', does: 'Takes in what others pushed' },
  notifications: {
    role: 'person',
    on: ['question.asked', 'question.reminded', 'alert.raised', 'task.blocked', 'task.moved'],
    does: 'Tells people on the page and on their channels',
  },
  housekeeping: {
    role: 'engine',
    on: [],
    clock: 'once a day',
    does: 'Removes old output, snapshots and superseded events',
  },
} as const satisfies Record<string, ReactorTraits>;
export type ReactorName = keyof typeof REACTORS;

/** Every reactor with what it follows. */
export function reactorRows(): EventRouteRow[] {
  return Object.entries(REACTORS).map(([reactor, traits]: [string, ReactorTraits]) => {
    const { role, on, clock, does } = traits;
    const followed = [...on, ...(clock === undefined ? [] : [clock])].join(', ');
    return { event: followed, role, reactor, does, choices: [], chosen: null };
  });
}
