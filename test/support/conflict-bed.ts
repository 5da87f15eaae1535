import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventBody } from '@tidemill/contract';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';
import { until } from './until.ts';

export const FILES = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'];

/** Adds a line to the files in its title, and ends on a sign of the test, so that the target can move before. */
const AGENT = `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
const door = process.env.STAGE_DOOR;
for (const file of task.title.split(' ').slice(1)) appendFileSync(file, 'task ' + task.number + '\\n');
writeFileSync(door + '/begun-' + task.number, '');
while (!existsSync(door + '/go')) await delay(20);
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' }));
`;

/** A repository where the target moves while an agent works. */
export class ConflictBed {
  readonly machine = new TidemillHome({ USER: 'ada' });
  readonly repository = new TemporaryRepository({
    'agent.mjs': AGENT,
    'locked.txt': 'one\n',
    ...Object.fromEntries(FILES.map((file) => [file, 'one\n'])),
  });
  readonly root = this.repository.root;
  readonly #door = join(this.machine.home, 'door');

  constructor() {
    mkdirSync(this.#door);
    const where = JSON.stringify(this.#door);
    const agent = `{ type: command, command: [node, agent.mjs], env: { STAGE_DOOR: ${where} }, writable: [${where}] }`;
    const gates = `gates:\n  - { name: no-markers, run: "! grep -rn '^<<<<<<<' *.txt" }\n`;
    this.repository.write({
      '.tidemill/config.yaml': `target: main\npipeline: quick\ncritical: [locked.txt]\nsource: ['*.txt']\nagents:\n  default: ${agent}\n${gates}`,
    });
    this.repository.git('add', '-A');
    this.repository.git('commit', '-q', '-m', 'config');
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  read = (file: string) => readFileSync(join(this.root, file), 'utf8');
  eventsOf = async (...types: EventBody['type'][]) =>
    (await this.machine.events(this.root, types)).map(({ body }) => body);

  /** A task whose files a person changes on the target while its agent is at work. Resolves when the conflict is recorded. */
  async conflictIn(...files: string[]) {
    await this.machine.ask(this.root, (api, project) => api.addTask({ project, title: `Change ${files.join(' ')}` }));
    const daemon = await this.machine.up(this.root);
    await until(() => existsSync(join(this.#door, 'begun-1')));
    for (const file of files) writeFileSync(join(this.root, file), 'one\nmain\n');
    this.repository.git('commit', '-q', '-a', '-m', 'meanwhile');
    writeFileSync(join(this.#door, 'go'), '');
    await this.machine.event('task.blocked');
    const [project] = await this.machine.api().projects({ root: this.root });
    return { daemon, of: { project: project!.id, task: '1' } };
  }
}
