import { z } from 'zod';
import type { Clock, StepEnd, Workflows } from '../../../ports.ts';
import type { GithubClient } from '../client/client.ts';
import { isGithubError } from '../client/github-error.ts';

const WorkflowRun = z.object({
  id: z.number(),
  /** The run's name, which has the marker if the workflow's `run-name` does. */
  display_title: z.string().nullish(),
  status: z.string().nullable(),
  conclusion: z.string().nullable(),
  html_url: z.string(),
});
type WorkflowRun = z.infer<typeof WorkflowRun>;
const Runs = z.object({ workflow_runs: z.array(WorkflowRun) });

const LOOK_MS = 5_000;
/** GitHub lists a run some seconds after its start. */
const FOUND_WITHIN_MS = 60_000;
/** A run that is cancelled ends some time later. */
const CANCELLED_WITHIN_MS = 300_000;
const SEEN = 50;
/** They pass by themselves, and say nothing about the run. */
const PASSING = ['unreachable', 'rate_limited', 'bad_answer'] as const;

/** Whether the run's name has the marker, and not a longer one. */
function names(title: string, marker: string): boolean {
  const at = title.indexOf(marker);
  return at >= 0 && !/^\w/.test(title.slice(at + marker.length));
}

interface WorkflowOptions {
  client: Pick<GithubClient, 'get' | 'send'>;
  /** Waits are counted, not compared with the time of day: that may jump. */
  clock: Pick<Clock, 'sleep'>;
  /** A workflow is started on a branch. The commit is one of its inputs. */
  branch: string;
  lookMs?: number;
  foundWithinMs?: number;
}

/**
 * Starts a workflow by `workflow_dispatch` with the inputs environment, commit and delivery, and waits for its end. The
 * workflow's `run-name` repeats the input delivery: by it a run is found again, so that a crash starts none twice.
 */
export function createWorkflows(options: WorkflowOptions): Workflows {
  const { client, clock, branch, lookMs = LOOK_MS, foundWithinMs = FOUND_WITHIN_MS } = options;
  const find = async (workflow: string, marker: string): Promise<WorkflowRun | null> => {
    const query = { event: 'workflow_dispatch', per_page: SEEN };
    const { workflow_runs: runs } = await client.get(`/actions/workflows/${workflow}/runs`, Runs, query);
    return runs.find(({ display_title }) => names(display_title ?? '', marker)) ?? null;
  };
  /** A failed look is not the end of a deployment: it goes on at GitHub. */
  const look = async <T>(once: () => Promise<T>, onNote: (line: string) => void): Promise<T | null> => {
    try {
      return await once();
    } catch (error) {
      if (!isGithubError(error, ...PASSING)) throw error;
      onNote(error.message);
      return null;
    }
  };
  /** Looks until the run is listed, the time is over or the signal ends it. */
  const listed = async (workflow: string, marker: string, signal: AbortSignal, onNote: (line: string) => void) => {
    let run: WorkflowRun | null = null;
    for (let waited = 0; !run && !signal.aborted && waited < foundWithinMs; waited += lookMs) {
      await clock.sleep(lookMs, signal);
      run = await look(() => find(workflow, marker), onNote);
    }
    return run;
  };
  /** Starts it. `maybe`: GitHub's answer was lost on its way, so that the run is looked for. */
  const start = async (
    workflow: string,
    inputs: Record<string, string>,
    signal: AbortSignal,
    onNote: (line: string) => void,
  ): Promise<{ kind: 'started' } | { kind: 'maybe' | 'refused'; why: string }> => {
    for (;;) {
      try {
        await client.send('POST', `/actions/workflows/${workflow}/dispatches`, { ref: branch, inputs }, z.unknown());
        onNote(`started ${workflow} on ${branch}`);
        return { kind: 'started' };
      } catch (error) {
        if (!isGithubError(error)) throw error;
        const { message: why, kind } = error;
        onNote(why);
        if (kind === 'unreachable' || kind === 'bad_answer') return { kind: 'maybe', why };
        if (kind !== 'rate_limited' || signal.aborted) return { kind: 'refused', why };
        await clock.sleep(lookMs, signal);
      }
    }
  };
  /** What went wrong is known from the end of the run. */
  const cancel = async (id: number, onNote: (line: string) => void): Promise<void> => {
    try {
      await client.send('POST', `/actions/runs/${id}/cancel`, {}, z.unknown());
    } catch (error) {
      if (!isGithubError(error)) throw error;
      onNote(error.message);
    }
  };
  /** A run that an earlier process started, when GitHub can be asked. */
  const before = async (workflow: string, marker: string, signal: AbortSignal, onNote: (line: string) => void) => {
    while (!signal.aborted) {
      const found = await look(async () => ({ run: await find(workflow, marker) }), onNote);
      if (found) return found.run;
      await clock.sleep(lookMs, signal);
    }
    return null;
  };
  const follow = async (
    first: WorkflowRun,
    signal: AbortSignal,
    onNote: (line: string) => void,
    withinMs = Infinity,
  ) => {
    let run = first;
    for (let waited = 0; run.status !== 'completed' && !signal.aborted && waited < withinMs; waited += lookMs) {
      await clock.sleep(lookMs, signal);
      run = (await look(() => client.get(`/actions/runs/${run.id}`, WorkflowRun), onNote)) ?? run;
    }
    return run;
  };
  return {
    async run({ workflow, environment, commit, marker, isResumed }, { signal, down }, onNote): Promise<StepEnd> {
      let run: WorkflowRun | null = null;
      let why = 'its run-name must repeat the input delivery';
      try {
        run = await before(workflow, marker, signal, onNote);
      } catch (error) {
        // Nothing was asked for yet, except by an earlier process.
        if (isResumed || !isGithubError(error)) throw error;
        return { result: 'not_started', note: error.message };
      }
      // A run that was started just before a crash may not be listed yet.
      if (!run && isResumed) run = await listed(workflow, marker, signal, onNote);
      if (run) onNote(`found ${run.html_url}, which was started before`);
      else if (signal.aborted && !isResumed) return { result: 'not_started', note: 'it was stopped before it started' };
      else if (!signal.aborted) {
        const begun = await start(workflow, { environment, commit, delivery: marker }, signal, onNote);
        if (begun.kind === 'refused') return { result: 'not_started', note: begun.why };
        if (begun.kind === 'maybe') ({ why } = begun);
      }
      run ??= await listed(workflow, marker, signal, onNote);
      // Stopped before it was listed: it runs all the same, and is looked for to be cancelled.
      if (!run && signal.aborted) run = await listed(workflow, marker, down, onNote);
      if (!run) {
        if (signal.aborted) return { result: 'stopped', note: `it was stopped; no run of ${workflow} was found` };
        return { result: 'failed', note: `no run of ${workflow} names ${marker}: ${why}` };
      }
      run = await follow(run, signal, onNote);
      const { id, html_url: url } = run;
      if (run.status === 'completed') {
        const { conclusion } = run;
        return { result: conclusion === 'success' ? 'passed' : 'failed', note: `${conclusion ?? 'no result'}: ${url}` };
      }
      if (down.aborted) return { result: 'stopped', note: `${url} goes on` };
      await cancel(id, onNote);
      // The next one must not start beside it.
      const last = await follow(run, down, onNote, CANCELLED_WITHIN_MS);
      const end =
        last.status === 'completed' ? `was stopped: ${last.conclusion}` : 'was stopped, and has not ended yet';
      return { result: 'stopped', note: `${url} ${end}` };
    },
  };
}
