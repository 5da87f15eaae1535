import type { GithubConfig } from '@tidemill/contract';
import { GithubError } from './github-error.ts';

/** Which repository, and where its API is. */
export interface GithubPlace {
  owner: string;
  name: string;
  api: string;
  host: string;
}

/** Owner and name in the address of a remote, in each form that git accepts. Null: it is none. */
export function repositoryIn(remote: string): { host: string; owner: string; name: string } | null {
  const match =
    /^(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(remote) ??
    /^(?:[^@/\s]+@)?([^/:\s]+):([^/]+)\/([^/]+?)(?:\.git)?\/?$/.exec(remote);
  if (!match) return null;
  const [, host, owner, name] = match as unknown as [string, string, string, string];
  return { host: host.toLowerCase(), owner, name };
}

/**
 * The API's address comes from the config, or is github.com's. It never comes from the remote's address: who can change
 * that must not learn the token.
 */
export function placeOf(
  { repository, api }: Pick<GithubConfig, 'repository' | 'api'>,
  remote: string | null,
): GithubPlace {
  const found = remote === null ? null : repositoryIn(remote);
  const [owner, name] = repository?.split('/') ?? [found?.owner, found?.name];
  if (!owner || !name)
    throw new GithubError(
      'no_credentials',
      remote === null
        ? 'the repository has no remote, so Tidemill does not know which repository on GitHub it is'
        : 'the address of the remote names no repository on GitHub',
      { hint: 'Add the remote, or set `github.repository: owner/name`.' },
    );
  if (api !== undefined)
    return { owner, name, api: api.replace(/\/$/, ''), host: new URL(api).hostname.replace(/^api\./, '') };
  if (repository === undefined && found!.host !== 'github.com' && found!.host !== 'ssh.github.com')
    throw new GithubError('no_credentials', `the remote is at ${found!.host}, which is not github.com`, {
      hint: `For a GitHub Enterprise server set \`github.api: https://${found!.host}/api/v3\`.`,
    });
  return { owner, name, api: 'https://api.github.com', host: 'github.com' };
}
