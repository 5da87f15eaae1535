import type { Api, QuestionView, TaskSummary } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { TemporaryRepository } from '../../e2e/cli-repository.ts';
import { TidemillHome } from '../tidemill-home.ts';
import { type Blinding, type Deed, FILES, type Language } from './blindings.ts';

const MINUTE = 60_000;

const AGENT = `import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
const { task, mode } = JSON.parse(readFileSync(0, 'utf8'));
for (const [name, text] of Object.entries(JSON.parse(task.body))) {
  if (text === null) { rmSync(name); continue; }
  mkdirSync(dirname(name), { recursive: true });
  writeFileSync(name, text.text ?? text);
  if (text.mode) chmodSync(name, text.mode);
}
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: mode }));
`;

const GATES: Record<Language, string> = {
  lint: 'true',
  js: 'node --test',
  py: 'PYTHONPATH=src PYTHONDONTWRITEBYTECODE=1 python3 -m unittest discover -s test',
  sh: 'sh test/total.sh',
  c: 'cc -o /tmp/total_test test/total_test.c src/total.c && /tmp/total_test',
};

const configOf = (
  languages: Language[],
  { more, settings, gates }: { more: string; settings: string; gates: Record<Language, string> },
) => `target: main
pipeline: quick
workers: 3
push: 'never'
${settings}agents:
  default: { type: command, command: [node, agent.mjs], free: true }
gates:
${languages.map((name) => `  - { name: ${name}, run: ${JSON.stringify(gates[name])}, timeout: 5m${more} }`).join('\n')}
`;

/** One daemon at work on a small project. */
export class BlindingBed {
  readonly machine = new TidemillHome();
  readonly repository: TemporaryRepository;
  readonly tasks = new Map<string, TaskSummary>();
  api!: Api;
  project!: string;

  constructor(
    languages: Language[],
    { more = '', settings = '', files = {} as Record<string, string>, gates = {} as Partial<typeof GATES> } = {},
  ) {
    const config = configOf(languages, { more, settings, gates: { ...GATES, ...gates } });
    this.repository = new TemporaryRepository({
      ...FILES,
      ...files,
      'agent.mjs': AGENT,
      '.tidemill/config.yaml': config,
    });
  }
  async open(): Promise<void> {
    await this.machine.up(this.repository.root);
    this.api = this.machine.api();
    this.project = (await this.api.projects({ root: this.repository.root }))[0]!.id;
  }
  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  add = (title: string, deed: Deed): Promise<TaskSummary> =>
    this.api.addTask({ project: this.project, title, body: JSON.stringify(deed), accept: ['it is done'] });
  parked = (taskId: string, after = 0) => this.machine.event('task.parked', (body) => body.taskId === taskId, after);
  landed = (taskId: string) => this.machine.event('task.moved', (body) => body.taskId === taskId && body.to === 'done');
  askedAbout = async (number: number): Promise<QuestionView> =>
    (await this.api.questions({ project: this.project, task: number }))[0]!;
  onMain = (path: string) => this.repository.git('show', `main:${path}`);
}

/** Each of them waits for a person, and nothing lands. */
export function testBlindings(bed: BlindingBed, blindings: Blinding[]): void {
  test.each(blindings)('waits for a person when it %s (%s)', { timeout: 5 * MINUTE }, async (name, language) => {
    const title = ([its, of]: Blinding | [string, string]) => `${its} (${of})`;
    if (bed.tasks.size === 0)
      for (const each of blindings) bed.tasks.set(title(each), await bed.add(title(each), each[2]));
    const { id, number } = bed.tasks.get(title([name, language]))!;
    await bed.parked(id);
    const { task } = await bed.api.task({ project: bed.project, task: number });
    expect(task).toMatchObject({ stage: 'needs_info', landedCommit: null });
    const { text, context } = await bed.askedAbout(number);
    // What is recognised by its words is held before.
    if (!text.includes('changes what the gates check')) {
      expect(text).toContain(`the gate ${language} no longer notices faults`);
      expect(context).toMatch(
        /although:\n- .* was (broken on purpose \(line|given a syntax error)|1 more test of gate/,
      );
    }
    expect(bed.repository.git('log', '--format=%s', 'main')).toBe('Start');
  });
}

/** Each of them waits for a person although its proof passed. */
export function testElsewhere(bed: BlindingBed, sources: Blinding[]): void {
  test.each(sources)('waits for a person when it %s (%s)', { timeout: 5 * MINUTE }, async (name, language, deed) => {
    const { id, number } = await bed.add(`${name} ${language}`, deed);
    await bed.parked(id);
    const { text, context } = await bed.askedAbout(number);
    // A file that the gate's command names is shown before.
    if (!text.includes('changes what the gates check')) {
      expect(text).toContain(`passes the gate ${language} only where it is proven`);
      expect(context).toContain(`Gate ${language} passed in the proof of this work. It failed twice`);
    }
    expect(bed.repository.git('log', '--format=%s', 'main')).toBe('Start');
    await bed.api.cancelTask({ project: bed.project, task: number });
  });
}

export function testSeeing(bed: BlindingBed, changes: Blinding[]): void {
  test.each(changes)(
    'lands without a question when it %s (%s)',
    { timeout: 2 * MINUTE },
    async (name, _language, deed) => {
      const { id, number } = await bed.add(name, deed);
      await bed.landed(id);
      expect(await bed.api.questions({ project: bed.project, task: number, all: true })).toEqual([]);
    },
  );
}
