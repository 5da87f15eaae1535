import { AppError, type Job, MODES } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';
import type { Setback } from '../dispatch/agent-backoff.ts';
import { briefingOf } from '../jobs/briefings.ts';
import { type LeasedJob, Unwound } from '../workers/leased-work.ts';
import { AgentRun } from './agent-run.ts';
import type { StageReport } from './agent-stage.ts';
import { failedEnd, proposalOf } from './conclusion.ts';

/** One run of a job, from its recorded start to its recorded end. */
export async function runJob(
  deps: EngineDeps,
  leased: LeasedJob,
  onSetback: (setback: Setback) => void,
): Promise<StageReport> {
  const { mode, attempts } = leased.job;
  const place = await openPlace(deps, leased.job);
  try {
    const runId = deps.ids.next('run');
    const { label: agent, isFree } = deps.agentFor(mode);
    const begun = await leased.execute({ type: 'run.start', runId, mode, agent, isFree });
    if (!begun.ok && begun.refusal.code === 'budget_exhausted') throw new Unwound('budget', begun.refusal.message);
    if (!begun.ok) throw new AppError('internal', `run.start was refused: ${begun.refusal.message}`);
    const brief = async () => ({ briefing: await briefingOf(deps, leased.job), task: null, attempt: attempts });
    const run = new AgentRun(deps, leased, { runId, mode, brief });
    try {
      const end = await run.once(place.path, []);
      const conclusion = end.kind === 'failed' ? failedEnd(end) : proposalOf(end.envelope);
      const { failure, message = '', retryAt } = conclusion;
      const setback = failure ? { mode, failure, message, retryAt } : null;
      if (setback) onSetback(setback);
      await leased.must({ type: 'run.finish', runId, usage: run.usage, ...conclusion });
      return { mode, setback };
    } finally {
      await run.close();
    }
  } finally {
    await place.close();
  }
}

interface Place {
  path: string;
  close(): Promise<void>;
}

/** Where a job's agent works. Nothing that it leaves there is used. */
async function openPlace({ workspace }: EngineDeps, { id, mode }: Job): Promise<Place> {
  // A replay opens its own: see replay-run.ts.
  if (MODES[mode].place === 'checkout') return workspace.checkOut(await workspace.targetCommit());
  const { path, remove } = await workspace.scratch(id);
  return { path, close: remove };
}
