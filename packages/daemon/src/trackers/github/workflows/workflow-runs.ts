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
const SEEN = 50;

interface WorkflowOptions {
  client: Pick<GithubClient, 'get' | 'send'>;
  clock: Clock;
  /** A workflow is started on a branch. The commit is one of its inputs. */
  branch: string;
  lookMs?: number;
}

/**
 * Starts a workflow by `workflow_dispatch` with the inputs environment, commit and delivery, and waits for its end. The
 * workflow's `run-name` repeats the input delivery: by it a run is found again, so that a crash starts none twice.
 */
export function createWorkflows({ client, clock, branch, lookMs = LOOK_MS }: WorkflowOptions): Workflows {
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
  return {
    async run({ workflow, environment, commit, marker }, signal, onNote): Promise<StepEnd> {
      let run = await find(workflow, marker);
      if (run) onNote(`found ${run.html_url}, which was started before`);
      else {
        const inputs = { environment, commit, delivery: marker };
        await client.send('POST', `/actions/workflows/${workflow}/dispatches`, { ref: branch, inputs }, z.unknown());
        onNote(`started ${workflow} on ${branch}`);
      }
      const until = clock.now() + FOUND_WITHIN_MS;
      while (!run && !signal.aborted && clock.now() < until) {
        await clock.sleep(lookMs, signal);
        run = await look(() => find(workflow, marker), onNote);
      }
      if (!run && !signal.aborted)
        return {
          result: 'failed',
          note: `no run of ${workflow} names ${marker}: its run-name must repeat the input delivery`,
        };
      while (run && run.status !== 'completed' && !signal.aborted) {
        await clock.sleep(lookMs, signal);
        const { id }: WorkflowRun = run;
        run = (await look(() => client.get(`/actions/runs/${id}`, WorkflowRun), onNote)) ?? run;
      }
      if (run?.status !== 'completed') {
        if (run) await client.send('POST', `/actions/runs/${run.id}/cancel`, {}, z.unknown());
        return { result: 'stopped', note: run ? `${run.html_url} was cancelled` : 'it was stopped' };
      }
      const { conclusion, html_url: url } = run;
      return { result: conclusion === 'success' ? 'passed' : 'failed', note: `${conclusion ?? 'no result'}: ${url}` };
    },
  };
}
