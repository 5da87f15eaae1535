import { cp, mkdir, readdir, realpath, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { isReadOnly, type Mode } from '@tidemill/contract';
import type { RunDoor } from '../../ports.ts';
import { MCP_SERVER, MCP_TOKEN_VARIABLE } from '../own-tools.ts';
import { resultSchema } from '../result-schema.ts';
import type { GuardSocket } from './guard-socket.ts';

// Codex keeps everything in CODEX_HOME. Each run has its own, so that no run, and no setting of the person's own Codex,
// changes another. A resumed session is copied, because the earlier run may still be alive.

export interface CodexHome {
  path: string;
  tmp: string;
  schemaFile: string;
  /** Read-only paths in the sandbox, although the home is writable. */
  readable: string[];
  /** The person's login. Codex renews it in place, because a renewed copy would make the person's own login invalid. */
  login: string[];
  /** Whether the requested session can be resumed. */
  hasSession: boolean;
}

interface HomeRequest {
  dataDir: string;
  runId: string;
  session: string | null;
  mode: Mode;
  model: string | undefined;
  env: Record<string, string>;
  isSandboxed: boolean;
  writable: string[];
  guards: GuardSocket;
  mcp: RunDoor | undefined;
}

const KEPT_MS = 14 * 86_400_000;
const API_KEYS = ['OPENAI_API_KEY', 'CODEX_API_KEY'];

export async function prepareHome(request: HomeRequest): Promise<CodexHome> {
  const all = path.join(request.dataDir, 'codex');
  await mkdir(all, { recursive: true, mode: 0o700 });
  const own = request.runId.replaceAll(/[^\w-]/g, '_');
  const found = request.session === null ? null : await runWithSession(all, own, request.session);
  const run = path.join(all, own);
  const home = path.join(run, 'home');
  const tmp = path.join(run, 'tmp');
  const schemaFile = path.join(run, 'result.json');
  await mkdir(home, { recursive: true, mode: 0o700 });
  await mkdir(tmp, { recursive: true, mode: 0o700 });
  if (found !== null && found !== own)
    await cp(path.join(all, found, 'home', 'sessions'), path.join(home, 'sessions'), { recursive: true });
  const login = await linkLogin(home, request.env);
  const hooksFile = path.join(await realpath(home), 'hooks.json');
  const configFile = path.join(home, 'config.toml');
  await writeFile(hooksFile, JSON.stringify(request.guards.hooks));
  await writeFile(configFile, configText(request, tmp, request.guards.trust(hooksFile)), { mode: 0o600 });
  await writeFile(schemaFile, JSON.stringify(resultSchema(request.mode, 'strict')));
  return {
    path: await realpath(home),
    tmp,
    schemaFile,
    readable: [configFile, hooksFile, schemaFile],
    login,
    hasSession: found !== null,
  };
}

/** Keeps only what a later run needs to resume, and removes old runs. */
export async function tidyHome(home: CodexHome, dataDir: string): Promise<void> {
  const rest = (await readdir(home.path)).filter((name) => name !== 'sessions');
  await Promise.all(rest.map((name) => rm(path.join(home.path, name), { recursive: true, force: true })));
  await rm(home.tmp, { recursive: true, force: true });
  const all = path.join(dataDir, 'codex');
  for (const name of await readdir(all)) {
    const run = path.join(all, name);
    const age = Date.now() - ((await stat(run).catch(() => null))?.mtimeMs ?? Date.now());
    if (age > KEPT_MS) await rm(run, { recursive: true, force: true });
  }
}

/** The run whose home has the session: this one, if it was sent back by the gates, or the last one that resumed it. */
async function runWithSession(all: string, own: string, session: string): Promise<string | null> {
  let newest: { run: string; at: number } | null = null;
  for (const run of await readdir(all)) {
    const folder = path.join(all, run, 'home', 'sessions');
    const files = await readdir(folder, { recursive: true }).catch(() => []);
    const file = files.find((name) => name.endsWith(`${session}.jsonl`));
    if (file === undefined) continue;
    if (run === own) return own;
    const at = (await stat(path.join(folder, file)).catch(() => null))?.mtimeMs ?? 0;
    if (!newest || at > newest.at) newest = { run, at };
  }
  return newest?.run ?? null;
}

function configText(request: HomeRequest, tmp: string, trust: Record<string, string>): string {
  const { env, model, mode, isSandboxed, writable, mcp } = request;
  // Its own sandbox cannot run inside ours, which has the same restrictions. Without ours it is needed.
  const sandbox = isSandboxed ? 'danger-full-access' : isReadOnly(mode) ? 'read-only' : 'workspace-write';
  const baseUrl = env.OPENAI_BASE_URL;
  const keyName = API_KEYS.find((name) => env[name] !== undefined);
  return toml([
    ['', { approval_policy: 'never', sandbox_mode: sandbox, check_for_update_on_startup: false }],
    // A login shell would reset PATH: tools of pyenv, nvm or mise, which gates have, would be missing.
    ['', { allow_login_shell: false }],
    ['', model === undefined ? {} : { model }],
    ['', baseUrl === undefined ? {} : { model_provider: 'given' }],
    // Plugins would contact other hosts, and terminal input has no hook.
    ['features', { plugins: false, unified_exec_tty: false }],
    // Its to-do list, which shows a person how far it is.
    ['tools.update_plan', { enabled: true }],
    [
      'sandbox_workspace_write',
      { exclude_slash_tmp: true, exclude_tmpdir_env_var: true, writable_roots: [tmp, ...writable] },
    ],
    // The model's commands need neither its key nor its token.
    ['shell_environment_policy', { exclude: [...API_KEYS, MCP_TOKEN_VARIABLE] }],
    ...(mcp
      ? [[`mcp_servers.${MCP_SERVER}`, { url: mcp.url, bearer_token_env_var: MCP_TOKEN_VARIABLE }] as const]
      : []),
    ...(baseUrl === undefined ? [] : [['model_providers.given', provider(baseUrl, keyName)] as const]),
    ...Object.entries(trust).map(
      ([key, hash]) => [`hooks.state.${JSON.stringify(key)}`, { trusted_hash: hash }] as const,
    ),
  ]);
}

/**
 * Few retries: when the vendor is down, Tidemill ends the run and waits itself. Without a key, the person's login is
 * used.
 */
function provider(baseUrl: string, keyName: string | undefined): Record<string, unknown> {
  const key = keyName === undefined ? { requires_openai_auth: true } : { env_key: keyName };
  const retries = { request_max_retries: 0, stream_max_retries: 2 };
  return { name: 'as given in OPENAI_BASE_URL', base_url: baseUrl, wire_api: 'responses', ...key, ...retries };
}

/** JSON's strings, numbers, booleans and lists of them are also TOML's. */
function toml(sections: (readonly [table: string, values: Record<string, unknown>])[]): string {
  return sections
    .map(([table, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
      return [...(table === '' ? [] : [`[${table}]`]), ...lines, ''].join('\n');
    })
    .join('\n');
}

/** The person's own login, unless a key is set. */
async function linkLogin(home: string, env: Record<string, string>): Promise<string[]> {
  const link = path.join(home, 'auth.json');
  await unlink(link).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (API_KEYS.some((name) => env[name] !== undefined)) return [];
  const own = path.join(process.env.CODEX_HOME ?? path.join(homedir(), '.codex'), 'auth.json');
  const file = await realpath(own).catch(() => null);
  if (file === null) return [];
  await symlink(file, link);
  return [file];
}
