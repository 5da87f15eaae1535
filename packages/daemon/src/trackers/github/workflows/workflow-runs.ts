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

interface WorkflowOptions {
  client: Pick<GithubClient, 'get' | 'send'>;
  clock: Clock;
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
    return runs.find(({ display_title }) => display_title?.includes(marker)) ?? null;
  };
  /** A failed look is not the end of a deployment: it goes on at GitHub. */
  const look = async <T>(once: () => Promise<T>, onNote: (line: string) => void): Promise<T | null> => {
    try {
      return await once();
    } catch (error) {
      if (!isGithubError(error, 'unreachable') && !isGithubError(error, 'rate_limited')) throw error;
      onNote(error.message);
      return null;
    }
  };
  /** Looks until the run is listed, the time is over or the signal ends it. */
  const listed = async (workflow: string, marker: string, signal: AbortSignal, onNote: (line: string) => void) => {
    const until = clock.now() + foundWithinMs;
    let run: WorkflowRun | null = null;
    while (!run && !signal.aborted && clock.now() < until) {
      await clock.sleep(lookMs, signal);
      run = await look(() => find(workflow, marker), onNote);
    }
    return run;
  };
  const follow = async (first: WorkflowRun, signal: AbortSignal, onNote: (line: string) => void, until = Infinity) => {
    let run = first;
    while (run.status !== 'completed' && !signal.aborted && clock.now() < until) {
      await clock.sleep(lookMs, signal);
      run = (await look(() => client.get(`/actions/runs/${run.id}`, WorkflowRun), onNote)) ?? run;
    }
    return run;
  };
  return {
    async run({ workflow, environment, commit, marker, isResumed }, { signal, down }, onNote): Promise<StepEnd> {
      let run = await find(workflow, marker);
      // A run that was started just before a crash may not be listed yet.
      if (!run && isResumed) run = await listed(workflow, marker, signal, onNote);
      if (run) onNote(`found ${run.html_url}, which was started before`);
      else if (signal.aborted && !isResumed) return { result: 'stopped', note: 'it was stopped before it started' };
      else if (!signal.aborted) {
        const inputs = { environment, commit, delivery: marker };
        await client.send('POST', `/actions/workflows/${workflow}/dispatches`, { ref: branch, inputs }, z.unknown());
        onNote(`started ${workflow} on ${branch}`);
      }
      run ??= await listed(workflow, marker, signal, onNote);
      // Stopped before it was listed: it runs all the same, and is looked for to be cancelled.
      if (!run && signal.aborted) run = await listed(workflow, marker, down, onNote);
      if (!run) {
        if (signal.aborted) return { result: 'stopped', note: `it was stopped; no run of ${workflow} was found` };
        const why = 'its run-name must repeat the input delivery';
        return { result: 'failed', note: `no run of ${workflow} names ${marker}: ${why}` };
      }
      run = await follow(run, signal, onNote);
      const { id, html_url: url } = run;
      if (run.status === 'completed') {
        const { conclusion } = run;
        return { result: conclusion === 'success' ? 'passed' : 'failed', note: `${conclusion ?? 'no result'}: ${url}` };
      }
      if (down.aborted) return { result: 'stopped', note: `${url} goes on` };
      await client.send('POST', `/actions/runs/${id}/cancel`, {}, z.unknown());
      // The next one must not start beside it.
      const last = await follow(run, down, onNote, clock.now() + CANCELLED_WITHIN_MS);
      const end =
        last.status === 'completed' ? `was cancelled: ${last.conclusion}` : 'was cancelled, and has not ended yet';
      return { result: 'stopped', note: `${url} ${end}` };
    },
  };
}
