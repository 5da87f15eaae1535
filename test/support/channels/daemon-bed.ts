import { TemporaryRepository } from '../../e2e/cli-repository.ts';
import { TidemillHome } from '../tidemill-home.ts';
import { Inflow, LoopbackServer, sendJson } from './loopback.ts';
import { TelegramStandIn } from './telegram.ts';

export const CHAT = 4242;

/** An agent that asks before it builds. */
const AGENT = `import { readFileSync, writeFileSync } from 'node:fs';
const brief = JSON.parse(readFileSync(0, 'utf8'));
const print = (message) => console.log(JSON.stringify(message));
if (brief.prompt.includes('Answer: Postgres')) {
  writeFileSync('work.txt', 'Postgres');
  print({ tidemill: 'result', outcome: 'pr_ready', summary: 'built' });
} else {
  const question = { text: 'Which database?', options: ['Postgres', 'SQLite'] };
  print({ tidemill: 'result', outcome: 'needs_info', summary: 'cannot choose', open_questions: [question] });
}
`;
const config = (more: string) => `target: main
pipeline: quick
agents:
  default: { type: command, command: [node, agent.mjs] }
gates:
  - { name: test, run: "true" }
${more}`;

/** A repository whose agent asks, a receiver of webhooks, and a Telegram. */
export class ChannelsBed {
  readonly hits = new Inflow<{ parts: { question: { answerUrl: string } | null }[] }>();
  readonly receiver = new LoopbackServer((_, body, response) => {
    this.hits.put(JSON.parse(body));
    sendJson(response, {});
  });
  readonly telegram = new TelegramStandIn();
  readonly repository = new TemporaryRepository({ 'agent.mjs': AGENT });
  readonly root = this.repository.root;
  machine!: TidemillHome;

  async open(): Promise<void> {
    await Promise.all([this.receiver.listen(), this.telegram.listen()]);
    this.machine = new TidemillHome({
      HOOK_SECRET: 'shared-secret',
      BOT_TOKEN: this.telegram.token,
      WRONG: '12:wrong-secret',
    });
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
    await Promise.all([this.receiver.close(), this.telegram.close()]);
  }

  configure = (more = '') => this.repository.write({ '.tidemill/config.yaml': config(more) });
  landed = () => this.machine.event('merge.landed');
  delivered = () => this.machine.event('notification.tried', (body) => body.error === null);
  webhook = () => `  hook: { type: webhook, url: "${this.receiver.url}", secretEnv: HOOK_SECRET }\n`;
  phone = (tokenEnv = 'BOT_TOKEN') =>
    `  phone: { type: telegram, tokenEnv: ${tokenEnv}, chat: ${CHAT}, baseUrl: "${this.telegram.url}" }\n`;
}
