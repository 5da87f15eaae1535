import { AppError, type Config, type Finding, GithubConfig, type WorkflowSetting } from '@tidemill/contract';
import { z } from 'zod';
import { gitWith } from '../git/program.ts';
import type { BranchCi, Clock } from '../ports.ts';
import { GithubClient } from '../trackers/github/client/client.ts';
import { readResults } from '../trackers/github/pulls/checks.ts';
import type { GitWorkspace } from '../workspace/workspace.ts';

export interface GithubSurroundings {
  root: string;
  config: Config;
  env: NodeJS.ProcessEnv;
  clock: Clock;
}

/** One connection per project: everything that uses GitHub shares its cache and its limits, until the settings change. */
export function githubOf(around: Omit<GithubSurroundings, 'config'>): (config: Config) => GithubClient | null {
  let open: { key: string; client: GithubClient | null } | null = null;
  return (config) => {
    const key = JSON.stringify([config.github, config.target, usesGithub(config)]);
    if (open?.key !== key) open = { key, client: openGithub({ ...around, config }) };
    return open.client;
  };
}

/** Null: nothing uses GitHub. */
function openGithub({ root, config, env, clock }: GithubSurroundings): GithubClient | null {
  if (!usesGithub(config)) return null;
  return new GithubClient({
    config: config.github ?? GithubConfig.parse({}),
    root,
    env,
    clock,
    async remote() {
      const git = gitWith({ cwd: root });
      const own = await git(['config', '--get', `branch.${config.target}.remote`], { answers: [1] });
      const name = own.stdout.trim() && own.stdout.trim() !== '.' ? own.stdout.trim() : 'origin';
      const { stdout } = await git(['config', '--get', `remote.${name}.url`], { answers: [1] });
      return stdout.trim() || null;
    },
  });
}

const usesGithub = ({ github, landing, tracker, delivery }: Config) =>
  github !== undefined ||
  landing === 'pull_request' ||
  tracker?.type === 'github' ||
  delivery.environments.some(({ workflow }) => workflow !== undefined);

/** Undefined: as far as is known, GitHub does not see what is pushed. */
export const workflowsOf = (config: Config): WorkflowSetting | undefined =>
  config.github?.workflows ?? (usesGithub(config) || config.push === 'branch' ? 'ask' : undefined);

const Repository = z.object({
  full_name: z.string(),
  archived: z.boolean().optional(),
  permissions: z.object({ push: z.boolean(), admin: z.boolean().optional() }).optional(),
});

/** One request that shows whether address, token and rights are right. */
export async function examineGithub(around: GithubSurroundings): Promise<Finding[]> {
  const client = openGithub(around);
  if (!client) return [];
  try {
    const { full_name, archived, permissions } = await client.get('', Repository);
    const from = await client.source();
    if (archived) return [problem(`${full_name} is archived on GitHub`, 'Nothing can be written to it.')];
    if (permissions?.push === false)
      return [problem(`the login of ${from} may not write to ${full_name}`, 'Give it push access on GitHub.')];
    return [{ level: 'ok', check: 'github', text: `${full_name} with ${from}`, hint: '' }];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [problem(error.message, error.hint)];
  }
}

const problem = (text: string, hint: string): Finding => ({ level: 'problem', check: 'github', text, hint });

/** CI of GitHub for commits that are being proven. */
export function ciOf(client: GithubClient, workspace: Pick<GitWorkspace, 'offerToCi' | 'withdrawFromCi'>): BranchCi {
  return {
    async offer(commit) {
      const pushed = await workspace.offerToCi(commit);
      if (pushed.kind === 'pushed') return null;
      return pushed.kind === 'none' ? 'the repository has no remote, or `push: never` is set' : pushed.why;
    },
    results: (commit) => readResults(client, commit),
    withdraw: (commit) => workspace.withdrawFromCi(commit),
  };
}
