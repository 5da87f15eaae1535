import { execFile, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';

const run = promisify(execFile);

const ENV = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'GitHub',
  GIT_AUTHOR_EMAIL: 'noreply@github.example',
  GIT_COMMITTER_NAME: 'GitHub',
  GIT_COMMITTER_EMAIL: 'noreply@github.example',
};

export async function git(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: folder, env: ENV, maxBuffer: 64 << 20 });
  return stdout.trim();
}

/** Git's own server program for HTTP, run as a CGI program: real clones, fetches and pushes. */
export function serveGit(root: string, path: string, query: string, login: string | null) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const child = spawn('git', ['http-backend'], {
      env: {
        ...ENV,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method ?? 'GET',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        ...(request.headers['content-length'] ? { CONTENT_LENGTH: request.headers['content-length'] } : {}),
        ...(request.headers['content-encoding'] ? { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] } : {}),
        ...(request.headers['git-protocol'] ? { GIT_PROTOCOL: String(request.headers['git-protocol']) } : {}),
        ...(login === null ? {} : { REMOTE_USER: login }),
        REMOTE_ADDR: '127.0.0.1',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    request.pipe(child.stdin);
    child.stdin.on('error', () => request.unpipe(child.stdin));
    let head = Buffer.alloc(0);
    let isHeadDone = false;
    child.stdout.on('data', (chunk: Buffer) => {
      if (isHeadDone) return void response.write(chunk);
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      isHeadDone = true;
      for (const line of head.subarray(0, end).toString().split('\r\n')) {
        const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
        if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.write(head.subarray(end + 4));
    });
    child.stdout.on('end', () => response.end());
  };
}

/** The commit of a branch, or null. */
export async function tipOf(repository: string, branch: string): Promise<string | null> {
  try {
    return await git(repository, 'rev-parse', '--verify', '-q', `refs/heads/${branch}^{commit}`);
  } catch {
    return null;
  }
}

/** The tree of a merge of two commits, or null if they conflict. */
export async function mergedTree(repository: string, onto: string, head: string): Promise<string | null> {
  try {
    return (await git(repository, 'merge-tree', '--write-tree', onto, head)).split('\n')[0]!;
  } catch {
    return null;
  }
}

export type MergeMethod = 'merge' | 'squash' | 'rebase';

/** Merges as GitHub does and moves the base. Null: they conflict. */
export async function mergeInto(
  repository: string,
  base: { branch: string; commit: string },
  head: string,
  how: { method: MergeMethod; message: string },
): Promise<string | null> {
  const commit = await mergeCommit(repository, base.commit, head, how);
  if (commit !== null) await git(repository, 'update-ref', `refs/heads/${base.branch}`, commit, base.commit);
  return commit;
}

/** The commit of a merge as GitHub does it; no branch moves. Null: they conflict. */
export async function mergeCommit(
  repository: string,
  base: string,
  head: string,
  { method, message }: { method: MergeMethod; message: string },
): Promise<string | null> {
  const tree = await mergedTree(repository, base, head);
  if (tree === null) return null;
  let commit: string;
  if (method === 'rebase') {
    commit = base;
    const commits = await git(repository, 'rev-list', '--reverse', '--no-merges', `${base}..${head}`);
    for (const one of commits.split('\n').filter(Boolean)) {
      const picked = await mergedTree(repository, commit, one);
      if (picked === null) return null;
      const said = await git(repository, 'log', '-1', '--format=%B', one);
      commit = await git(repository, 'commit-tree', picked, '-p', commit, '-m', said);
    }
  } else {
    const parents = method === 'merge' ? ['-p', base, '-p', head] : ['-p', base];
    commit = await git(repository, 'commit-tree', tree, ...parents, '-m', message);
  }
  return commit;
}
