import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Finding, TaskSummary } from '@tidemill/contract';
import { routes } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sandboxStatus } from '../../../packages/daemon/src/process/sandbox.ts';
import { MARK } from '../../support/hostile/escapes.ts';
import { makeHostileRepository } from '../../support/hostile/repository.ts';
import { TidemillHome } from '../../support/tidemill-home.ts';

const status = await sandboxStatus();

/** Tries every address of the daemon, with several guessed tokens. */
const KNOCK = `
import { readFileSync, writeFileSync } from 'node:fs';
const { port, routes } = JSON.parse(readFileSync('mischief/routes.json', 'utf8'));
// The agent could find it without help: a shared network shows which ports are open.
const listening = readFileSync('/proc/net/tcp', 'utf8').includes(port.toString(16).toUpperCase().padStart(4, '0'));
const came = [];
const base = 'http://127.0.0.1:' + port;
{
  for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: 'Bearer null' }, { cookie: 'tidemill=x; token=x' }])
    for (const { method, path } of routes) {
      const body = method === 'GET' ? undefined : '{}';
      const sent = { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) };
      const answer = await fetch(base + path, { method, body, headers: sent, signal: AbortSignal.timeout(3000) }).catch((error) => ({ status: 0, text: async () => String(error) }));
      came.push({ listening, method, path, status: answer.status, text: (await answer.text()).slice(0, 300) });
    }
}
writeFileSync('src/came.json', JSON.stringify(came));
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Each does one thing and writes the result to src/. */
const read = (title: string, ...commands: string[]) => ({
  title,
  does: `{ ${commands.map((command) => `( ${command} ) 2>&1 || true`).join('; ')}; } > "src/${title}.txt"; echo tried >> "src/${title}.txt"`,
});

describe('an agent in the real daemon', () => {
  let machine: TidemillHome;
  let root: string;
  const tasks = new Map<string, TaskSummary>();
  const heard = (title: string) => readFileSync(join(root, 'src', `${title}.txt`), 'utf8');

  beforeAll(async () => {
    if (!status.available) return;
    machine = new TidemillHome({ DATABASE_PASSWORD: MARK, NPM_CONFIG__AUTH: MARK });
    const { home, data, folder } = machine;
    for (const file of [join(home, '.ssh/id_rsa'), join(home, '.npmrc'), join(folder, 'elsewhere', 'letter.txt')]) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${MARK}\n`);
    }
    const repository = join(folder, 'repository');
    const tries = [
      { title: 'doors', does: 'node mischief/knock.mjs' },
      read('daemon-files', `cat '${data}/store.db' '${data}/daemon.json' '${data}/tokens.json'`, `ls -A '${data}'`),
      read('homes', `cat '${home}/.ssh/id_rsa' '${home}/.npmrc' /etc/shadow`, `cat '${folder}/elsewhere/letter.txt'`),
      read('environments', 'env', "cat /proc/*/environ | tr '\\0' '\\n'", 'ps -ef'),
      read(
        'remote',
        `cat '${repository}/.git/config'`,
        'git remote -v',
        `grep -r ${MARK.slice(0, 9)} '${repository}/.git'`,
      ),
      read('plant', `echo x > '${repository}/.git/hooks/post-commit'`, `echo x >> '${repository}/.git/config'`),
      read(
        'kernel',
        'sh -c ": >> /proc/sys/kernel/core_pattern" && echo OPENED',
        'mount -o remount,rw / && echo OPENED',
      ),
      {
        title: 'stay',
        does: `setsid env -i sh -c 'while :; do echo more >> "${repository}/grown"; echo more >> src/grown; sleep 0.05; done' >/dev/null 2>&1 & echo tried > src/stay.txt; sleep 0.3`,
      },
    ];
    root = await makeHostileRepository(machine, tries);
    await machine.git(root, 'remote', 'add', 'origin', `https://me:${MARK}@127.0.0.1:9/x.git`);
    const list = Object.values(routes).map(({ method, path }) => ({ method, path: path.replaceAll(/:\w+/g, '1') }));
    const port = await freePort();
    writeFileSync(join(root, 'mischief', 'routes.json'), JSON.stringify({ port, routes: list }));
    writeFileSync(join(root, 'mischief', 'knock.mjs'), KNOCK);
    const config = join(root, '.tidemill', 'config.yaml');
    writeFileSync(config, `${readFileSync(config, 'utf8')}push: 'never'\n`);
    await machine.git(root, 'add', '-A');
    await machine.git(root, 'commit', '-q', '-m', 'Knock');
    const file = join(folder, 'tasks.yaml');
    writeFileSync(
      file,
      JSON.stringify(tries.map(({ title }) => ({ title, pipeline: 'quick', accept: ['It is done'] }))),
    );
    await machine.run(['task', 'add', '--from', file], root);
    const { code, stdout, stderr } = await machine.run(['up', '--until-idle', '--plain', '--port', String(port)], root);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    for (const task of await machine.json<TaskSummary[]>(['task', 'list'], root)) tasks.set(task.title, task);
    // These attempts are not cheating, so all of them land and can be read.
    const left = [...tasks.values()].filter(({ stage }) => stage !== 'done');
    expect(left, `${stdout}\n${stderr}`).toEqual([]);
  }, 180_000);
  beforeEach(({ skip }) => skip(!status.available, status.why));
  afterAll(() => machine?.close());

  it('finds the daemon’s address, and gets no access without a token', () => {
    const came = JSON.parse(readFileSync(join(root, 'src', 'came.json'), 'utf8')) as Record<string, unknown>[];
    expect(came.length).toBeGreaterThanOrEqual(Object.keys(routes).length);
    const open = came.filter(({ status }) => ![401, 403, 429].includes(status as number));
    expect(open).toEqual([]);
    expect(came.every(({ listening }) => listening)).toBe(true);
    expect(JSON.stringify(came)).not.toContain(machine.folder);
  });

  it.each(['daemon-files', 'homes', 'environments', 'remote'])('reads nothing private: %s', (title) => {
    expect(tasks.get(title)).toMatchObject({ stage: 'done' });
    expect(heard(title)).toContain('tried');
    expect(heard(title)).not.toContain(MARK);
    expect(heard(title)).not.toMatch(/^root:[^x]/m);
    expect(heard(title)).not.toContain('SQLite format');
  });

  it('changes nothing of the repository or the machine', async () => {
    expect(heard('plant')).toMatch(/Read-only|nonexistent|No such file/);
    expect(existsSync(join(root, '.git', 'hooks', 'post-commit'))).toBe(false);
    expect(await machine.git(root, 'config', '--list')).not.toContain('core.x');
    expect(heard('kernel')).not.toContain('OPENED');
  });

  it('leaves no process behind', async () => {
    expect(existsSync(join(root, 'grown'))).toBe(false);
    expect(await machine.git(root, 'status', '--porcelain')).toBe('');
    const { findings } = await machine.json<{ findings: Finding[] }>(['doctor'], root);
    expect(findings).toContainEqual(expect.objectContaining({ check: 'processes', text: 'none left over' }));
    const running = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    expect(running.split('\n').filter((line) => line.includes(`${machine.folder}/repository/grown`))).toEqual([]);
  });

  it('has what it could see listed by doctor', async () => {
    const { findings } = await machine.json<{ findings: Finding[] }>(['doctor'], root);
    const said = findings.filter(({ check }) => check === 'sandbox').map(({ text }) => text);
    expect(said.join('\n')).toMatch(/agents and gates can read \/\S*usr/);
    expect(said.join('\n')).toContain(`can read what git tracks in ${root}`);
    expect(said.join('\n')).not.toMatch(/shadow|\.ssh/);
  });
});
