import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountView } from '@tidemill/contract';
import { QUIET_CONFIG, TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';

/** Reports its cost, and continues only after a sign from the test. */
const AGENT = `
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { task } = JSON.parse(input);
const tell = (line) => console.log(JSON.stringify(line));
const sign = (name) => existsSync(process.env.SIGNS + '/' + name);
const given = async (name) => { while (!sign(name)) await setTimeout(20); };
writeFileSync('work-' + task.number + '.txt', 'half\\n');
if (!sign('cheap')) {
  tell({ tidemill: 'usage', costUsd: 9.1, inputTokens: 10, outputTokens: 5 });
  await given('more');
  tell({ tidemill: 'usage', costUsd: 1.5 });
  await given('never');
}
writeFileSync('work-' + task.number + '.txt', 'whole\\n');
tell({ tidemill: 'usage', inputTokens: 3 });
tell({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' });
`;

/** A time zone where it is about noon now, so that no test runs over midnight. The zone names have the opposite sign. */
const hour = new Date().getUTCHours();
export const noon = `Etc/GMT${hour >= 12 ? `+${hour - 12}` : `-${12 - hour}`}`;

/** A repository whose agents cost money, and continue when the test says so. */
export class BudgetBed {
  readonly machine = new TidemillHome();
  readonly repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG, 'agent.mjs': AGENT });
  readonly root = this.repository.root;
  readonly #signs = join(this.machine.folder, 'signs');

  constructor() {
    mkdirSync(this.#signs);
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  config = (more: string) => `target: main
pipeline: quick
workers: 2
sandbox: "off"
agents:
  default: { type: command, command: [${JSON.stringify(process.execPath)}, agent.mjs], env: { SIGNS: ${JSON.stringify(this.#signs)} } }
gates:
  - { name: test, run: "true" }
${more}
`;
  give = (name: string) => writeFileSync(join(this.#signs, name), '');
  /** Committed, because landing waits for a clean checkout. */
  write = (text: string) => {
    writeFileSync(join(this.root, '.tidemill', 'config.yaml'), text);
    this.repository.git('commit', '-q', '-a', '-m', 'Other settings');
  };

  add = (title: string) => this.machine.ask(this.root, (api, project) => api.addTask({ project, title }));
  alerted = (kind: string) => this.machine.event('alert.raised', (body) => body.kind === kind);
  ownAccount = async () => (await this.machine.json<AccountView[]>(['budget'], this.root))[0]!;
  claimsOf = async (taskId: string) =>
    (await this.machine.events(this.root, ['lease.claimed'])).filter(
      ({ body }) => body.type === 'lease.claimed' && body.subjectId === taskId,
    ).length;
}
