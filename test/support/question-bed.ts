import { join } from 'node:path';
import type { QuestionView, TaskDetail, TaskSummary } from '@tidemill/contract';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';

/** An agent that keeps its brief, and asks before it builds. */
const AGENT = `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const brief = JSON.parse(readFileSync(0, 'utf8'));
const { number, title } = brief.task;
appendFileSync(process.env.BRIEFS, JSON.stringify(brief) + '\\n');
const print = (message) => console.log(JSON.stringify(message));
const knows = brief.prompt.includes('Answer: Postgres');
const question = { id: 'database', text: 'Which database?', options: ['Postgres', { label: 'SQLite', recommended: true }], context: 'Both fit.' };
if (title.includes('asks') && !knows) {
  print({ tidemill: 'result', outcome: 'needs_info', summary: 'cannot choose', open_questions: [question] });
} else {
  if (title.includes('passing'))
    print({ tidemill: 'question', text: 'Tabs or spaces?', type: 'clarifying', default: 'Spaces' });
  const depends = title.includes('depends') && !brief.feedback.some(({ text }) => text.includes('without'));
  if (depends) writeFileSync('package.json', '{"dependencies":{"left-pad":"1"}}');
  else if (title.includes('depends')) writeFileSync('package.json', '{}');
  writeFileSync('work-' + number + '.txt', knows ? 'Postgres' : 'as usual');
  print({ tidemill: 'result', outcome: 'pr_ready', summary: 'built ' + title });
}
`;
const config = (briefs: string, more = '') => `target: main
pipeline: quick
source: ['*.txt']
agents:
  default: { type: command, command: [node, agent.mjs], env: { BRIEFS: ${JSON.stringify(briefs)} }, writable: [${JSON.stringify(join(briefs, '..'))}] }
gates:
  - { name: test, run: "true" }
${more}`;

/** A repository whose agent asks before it builds. */
export class QuestionBed {
  readonly machine = new TidemillHome();
  readonly briefs = join(this.machine.home, 'briefs.jsonl');
  readonly repository = new TemporaryRepository({ 'agent.mjs': AGENT, 'package.json': '{}\n' });
  readonly root = this.repository.root;

  constructor(more = '') {
    this.repository.write({ '.tidemill/config.yaml': config(this.briefs, more) });
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  add = (...args: string[]) => this.machine.json<TaskSummary>(['task', 'add', ...args], this.root);
  shown = (number: number) => this.machine.json<TaskDetail>(['task', 'show', String(number)], this.root);
  asked = (...args: string[]) => this.machine.json<QuestionView[]>(['questions', ...args], this.root);
  moved = (taskId: string, to: string) =>
    this.machine.event('task.moved', (body) => body.taskId === taskId && body.to === to);
  parked = (taskId: string) => this.machine.event('task.parked', (body) => body.taskId === taskId);
}
