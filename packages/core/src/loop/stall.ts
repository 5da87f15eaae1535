/** No progress for this long, although something is there to do, is a stall. */
export const STALL_MS = 3_600_000;
/** The same while an agent works: a silent agent is interrupted long before. */
const WORKING_STALL_MS = 4 * STALL_MS;
const MOST_NAMED = 5;

/** What there is to do, and what each of it waits for. */
export interface StallSight {
  /** Proposals that wait for a yes. */
  waitingProposals: number;
  /** Proposals that Tidemill has not checked. */
  uncheckedProposals: number;
  /** The job of looking for an improvement. */
  job: 'none' | 'waits' | 'runs';
  tasks: readonly {
    number: number;
    stage: string;
    /** A worker that has it. */
    worker: string | null;
    /** What it waits for, if it says so: a question, a block, a landing. */
    waitsFor: string;
  }[];
  workers: readonly { name: string; isRunning: boolean }[];
  /** The project's budget is spent. */
  isOverBudget: boolean;
  /** The loop's own budget is spent until then. */
  heldUntil: number | null;
  /** Modes whose agent is in backoff. */
  restingModes: readonly string[];
}

/** Whether an agent works now. */
export const isWorking = ({ job, tasks }: StallSight): boolean =>
  job === 'runs' || tasks.some(({ worker }) => worker !== null);

/** `stillMs`: since the last progress; `idleMs`: also since nobody works. An empty queue is not a stall. */
export function isStalled(stillMs: number, idleMs: number, sight: StallSight): boolean {
  const { waitingProposals, uncheckedProposals, job, tasks } = sight;
  const hasWork = waitingProposals + uncheckedProposals + tasks.length > 0 || job !== 'none';
  return hasWork && (idleMs >= STALL_MS || stillMs >= WORKING_STALL_MS);
}

/** What waits for what, in sentences for a person. Never empty. */
export function diagnoseStall(sight: StallSight): string[] {
  const { waitingProposals, uncheckedProposals, job, tasks, workers, isOverBudget, heldUntil, restingModes } = sight;
  const said: string[] = [];
  const running = workers.filter(({ isRunning }) => isRunning);
  if (isOverBudget) said.push('The budget is spent. `tidemill budget` shows until when.');
  if (heldUntil !== null)
    said.push(`The loop's budget of a day is spent until ${new Date(heldUntil).toISOString()}: its tasks wait.`);
  if (restingModes.length > 0)
    said.push(`The agent of ${restingModes.join(', ')} is in backoff. \`tidemill agents\` says what it needs.`);
  if (workers.length > 0 && running.length === 0)
    said.push(`No worker runs: ${workers.map(({ name }) => name).join(', ')} must be resumed.`);
  if (waitingProposals > 0)
    said.push(
      `${amount(waitingProposals, 'proposal')} wait${waitingProposals === 1 ? 's' : ''} for a yes: \`tidemill loop proposals\`.`,
    );
  if (uncheckedProposals > 0)
    said.push(`${amount(uncheckedProposals, 'proposal')} could not be checked. The log of the daemon says why.`);
  if (job === 'waits') said.push('The search for an improvement waits for a free worker.');
  if (job === 'runs') said.push('The search for an improvement has not ended.');
  for (const { number, stage, worker, waitsFor } of tasks.slice(0, MOST_NAMED)) {
    const what = worker ? `${worker} works on it and has not finished` : waitsFor || 'it waits for a worker';
    said.push(`#${number} is in ${stage}: ${what}.`);
  }
  if (tasks.length > MOST_NAMED) said.push(`${tasks.length - MOST_NAMED} more tasks wait.`);
  return said.length > 0 ? said : ['Nothing names a reason. `tidemill doctor` looks further.'];
}

const amount = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
