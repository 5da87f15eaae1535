import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CLIENTS, type ClientName, clients } from './client.ts';
import { installClient, uninstallClient } from './install.ts';

let home: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-clients-'));
  env = { HOME: home, PATH: '' };
});
afterEach(() => rmSync(home, { recursive: true }));

const place = (client: ClientName) => ({ client, env, root: null });
const fileOf = (client: ClientName) => clients[client].userFile(env);
function write(client: ClientName, text: string): void {
  mkdirSync(dirname(fileOf(client)), { recursive: true });
  writeFileSync(fileOf(client), text);
}
const read = (client: ClientName) => readFileSync(fileOf(client), 'utf8');

const MINE: Record<ClientName, string> = {
  claude: '{"numStartups":3,"mcpServers":{"other":{"command":"x"}},"projects":{}}',
  vscode: '{\n\t// mine\n\t"servers": {\n\t\t"other": { "command": "x" }, // keep\n\t},\n}\n',
  codex: 'model = "gpt-5.5"\n\n[mcp_servers.other]\ncommand = "x"\n\n[features]\nplugins = false\n',
  cursor: '{ "mcpServers": {\r\n  "other": { "command": "x" }\r\n} }\r\n',
};

describe.each(CLIENTS)('the configuration of %s', (client) => {
  test('gets the server and is restored byte for byte', () => {
    write(client, MINE[client]);
    expect(installClient(place(client), ['--role', 'viewer'])).toEqual({ file: fileOf(client), changed: true });
    expect(read(client)).toMatch(/tidemill\.mjs[\s\S]*mcp[\s\S]*--role[\s\S]*viewer/);
    expect(read(client)).toContain('other');
    expect(installClient(place(client), ['--role', 'viewer']).changed).toBe(false);
    expect(uninstallClient(place(client)).changed).toBe(true);
    expect(read(client)).toBe(MINE[client]);
    expect(uninstallClient(place(client)).changed).toBe(false);
  });

  test('is made where there is none, and removed again', () => {
    expect(installClient(place(client), []).changed).toBe(true);
    expect(read(client)).toContain('tidemill.mjs');
    uninstallClient(place(client));
    expect(existsSync(fileOf(client))).toBe(false);
    expect(uninstallClient(place(client)).changed).toBe(false);
  });

  test('gets one entry in place of an older one', () => {
    installClient(place(client), []);
    installClient(place(client), ['--role', 'operator']);
    expect(read(client).match(/tidemill\.mjs/g)).toHaveLength(1);
    expect(read(client)).toContain('operator');
  });

  test('is written through a link', () => {
    const real = join(home, 'dotfile');
    writeFileSync(real, MINE[client]);
    mkdirSync(dirname(fileOf(client)), { recursive: true });
    symlinkSync(real, fileOf(client));
    installClient(place(client), []);
    expect(readFileSync(real, 'utf8')).toContain('tidemill.mjs');
  });
});

test.each<[ClientName, string, RegExp]>([
  ['claude', '{oops', /line 1/],
  ['cursor', '{"mcpServers": []}', /not an object/],
  ['codex', 'mcp_servers = { tidemill = { command = "x" } }\n', /cannot be changed safely/],
  ['codex', 'notice = """\n[mcp_servers.tidemill]\n"""\n', /cannot be changed safely/],
])('a file of %s that cannot be changed safely is left as it is: %s', (client, text, why) => {
  write(client, text);
  expect(() => installClient(place(client), [])).toThrow(why);
  expect(() => uninstallClient(place(client))).toThrow(why);
  expect(read(client)).toBe(text);
});

test('a program on the PATH is named by its name; a project has its own file, where the client knows one', () => {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'tidemill'), '', { mode: 0o755 });
  env.PATH = bin;
  const root = join(home, 'repository');
  expect(installClient({ client: 'claude', env, root }, []).file).toBe(join(root, '.mcp.json'));
  expect(JSON.parse(readFileSync(join(root, '.mcp.json'), 'utf8'))).toEqual({
    mcpServers: { tidemill: { type: 'stdio', command: 'tidemill', args: ['mcp'] } },
  });
  expect(() => installClient({ client: 'codex', env, root }, [])).toThrow(/no configuration for a single project/);
});
