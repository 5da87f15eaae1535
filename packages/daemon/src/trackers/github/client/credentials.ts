import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { GithubAuth } from '@tidemill/contract';
import { GithubError } from './github-error.ts';

export type Credentials =
  | { kind: 'token'; token: string; from: string }
  | { kind: 'app'; id: number; installation: number; key: string; from: string };

export interface CredentialSource {
  auth: GithubAuth | undefined;
  root: string;
  env: NodeJS.ProcessEnv;
  /** The host whose login `gh` is asked for. */
  host: string;
}

const NONE_HINT =
  'Set GITHUB_TOKEN, run `gh auth login`, or name a variable in `github.auth.token`; then start the daemon again.';

/** Reads the secret at its place. Never from the config file itself. */
export async function readCredentials({ auth, root, env, host }: CredentialSource): Promise<Credentials> {
  if (auth === undefined) {
    for (const name of ['GITHUB_TOKEN', 'GH_TOKEN']) {
      const token = env[name]?.trim();
      if (token) return { kind: 'token', token, from: `$${name}` };
    }
    return fromGh(host, env, 'no token is set, and ');
  }
  if ('token' in auth) return { kind: 'token', token: variable(auth.token, env), from: auth.token };
  if ('gh' in auth) return fromGh(host, env, '');
  const { id, installation, key } = auth.app;
  return { kind: 'app', id, installation, key: await keyOf(key, root, env), from: `the App ${id}` };
}

function variable(name: string, env: NodeJS.ProcessEnv): string {
  const value = env[name.slice(1)]?.trim();
  if (value) return value;
  throw new GithubError('no_credentials', `the environment variable ${name.slice(1)} is not set`, {
    hint: `Set ${name.slice(1)} and start the daemon again.`,
  });
}

async function keyOf(key: string, root: string, env: NodeJS.ProcessEnv): Promise<string> {
  if (key.startsWith('$')) return variable(key, env).replaceAll('\\n', '\n');
  const file = resolve(root, key);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new GithubError('no_credentials', `the App's private key ${file} cannot be read: ${code}`, {
      hint: 'Name its file, or a variable such as $GITHUB_APP_KEY, in `github.auth.app.key`.',
    });
  }
}

function fromGh(host: string, env: NodeJS.ProcessEnv, before: string): Promise<Credentials> {
  return new Promise((done, fail) => {
    execFile('gh', ['auth', 'token', '--hostname', host], { timeout: 10_000, env }, (error, stdout) => {
      const token = stdout.trim();
      if (!error && token !== '') return done({ kind: 'token', token, from: '`gh auth token`' });
      const isMissing = error !== null && 'code' in error && error.code === 'ENOENT';
      const why = isMissing ? 'the program gh is not installed' : `gh has no login for ${host}`;
      fail(new GithubError('no_credentials', `GitHub cannot be used: ${before}${why}`, { hint: NONE_HINT }));
    });
  });
}
