import { homedir } from 'node:os';
import { join } from 'node:path';
import type { EntryFormat, ServerCommand } from './entry.ts';
import { jsonEntry } from './json-entry.ts';
import { tomlEntry } from './toml-entry.ts';

export const CLIENTS = ['claude', 'vscode', 'codex', 'cursor'] as const;
export type ClientName = (typeof CLIENTS)[number];

export interface Client {
  title: string;
  /** For all projects of the user. */
  userFile(env: NodeJS.ProcessEnv): string;
  /** For one repository; null where the client has none. */
  projectFile: string | null;
  format(server: ServerCommand): EntryFormat;
  /** What the person does next. */
  next: string;
}

const home = (env: NodeJS.ProcessEnv) => env.HOME || homedir();

export const clients: Record<ClientName, Client> = {
  claude: {
    title: 'Claude Code',
    userFile: (env) => join(env.CLAUDE_CONFIG_DIR || home(env), '.claude.json'),
    projectFile: '.mcp.json',
    format: (server) => jsonEntry('mcpServers', { type: 'stdio', ...server }),
    next: 'Sessions that start from now on have it: `/mcp` lists it.',
  },
  vscode: {
    title: 'VS Code',
    userFile: (env) => join(codeFolder(env), 'User', 'mcp.json'),
    projectFile: '.vscode/mcp.json',
    // A variable of VS Code: the server works in the folder that is open.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code fills it in
    format: (server) => jsonEntry('servers', { type: 'stdio', ...server, cwd: '${workspaceFolder}' }),
    next: 'Run "MCP: List Servers" and start tidemill.',
  },
  codex: {
    title: 'Codex',
    userFile: (env) => join(env.CODEX_HOME || join(home(env), '.codex'), 'config.toml'),
    projectFile: null,
    format: tomlEntry,
    next: 'Sessions that start from now on have it: `codex mcp list` lists it.',
  },
  cursor: {
    title: 'Cursor',
    userFile: (env) => join(home(env), '.cursor', 'mcp.json'),
    projectFile: '.cursor/mcp.json',
    format: (server) => jsonEntry('mcpServers', server),
    next: 'Enable it in the settings under MCP.',
  },
};

function codeFolder(env: NodeJS.ProcessEnv): string {
  if (process.platform === 'darwin') return join(home(env), 'Library', 'Application Support', 'Code');
  if (process.platform === 'win32') return join(env.APPDATA || join(home(env), 'AppData', 'Roaming'), 'Code');
  return join(env.XDG_CONFIG_HOME || join(home(env), '.config'), 'Code');
}
