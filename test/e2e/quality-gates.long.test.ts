import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;

/** A scanner: each `eval(` is a critical finding, in SARIF. It ends with 1 when it found one, as scanners do. */
const SCAN = `import { globSync, readFileSync } from 'node:fs';
const results = globSync('src/**/*.ts').flatMap((uri) =>
  readFileSync(uri, 'utf8').split('\\n').flatMap((line, index) => line.includes('eval(') ? [{
    ruleId: 'no-eval', level: 'error', message: { text: 'eval is dangerous' }, properties: { 'security-severity': '9.1' },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: index + 1 } } }],
  }] : []));
console.log(JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'scan' } }, results }] }));
process.exitCode = results.length > 0 ? 1 : 0;
`;

/** Builds with eval until a gate complains, without any documentation until a reviewer asks; keeps every prompt. */
const AGENT = `import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
const { mode, task, prompt } = JSON.parse(readFileSync(0, 'utf8'));
const door = process.env.STAGE_DOOR;
writeFileSync(door + '/' + task.number + '-' + String(readdirSync(door).length).padStart(2, '0') + '-' + mode + '.txt', prompt);
const end = (result) => console.log(JSON.stringify({ tidemill: 'result', summary: 'done', ...result }));
if (mode === 'plan') end({ outcome: 'plan_complete', plan: 'Write it.', planSummary: 'Write it.' });
else if (mode === 'review') {
  const isFirst = !readdirSync(door).some((name) => name.startsWith(task.number + '-') && name.includes('request_changes'));
  const criteria = task.acceptance.map(({ id }) => ({ id, met: true, evidence: 'src/new-' + task.number + '.ts' }));
  if (isFirst) end({ outcome: 'changes_requested', review: { criteria, comments: ['Say what it does.'] } });
  else end({ outcome: 'approved', review: { criteria, comments: [] } });
} else {
  const stubborn = task.title.includes('stubborn');
  const hasHeard = prompt.includes('no-eval');
  const isRework = mode === 'request_changes' && !stubborn;
  const name = 'src/new-' + task.number + '.ts';
  const body = stubborn || !(hasHeard || isRework) ? "eval('1')" : '1';
  writeFileSync(name, (isRework ? '/** Says one. */\\n' : '') + 'export const one = ' + body + ';\\n// ' + Date.now() + '\\n');
  end({ outcome: 'pr_ready' });
}
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let door: string;

beforeAll(async () => {
  machine = new TidemillHome({ USER: 'ada' });
  door = join(machine.home, 'door');
  mkdirSync(door);
  const where = JSON.stringify(door);
  repository = new TemporaryRepository({
    'scan.mjs': SCAN,
    'agent.mjs': AGENT,
    'src/old.ts': "export const old = eval('2');\n",
  });
  root = repository.root;
  repository.write({
    '.tidemill/config.yaml': `target: main
pipeline: feature
agents:
  default: { type: command, command: [node, agent.mjs], env: { STAGE_DOOR: ${where} }, writable: [${where}], free: true }
gates:
  - { name: security, kind: scan, run: node scan.mjs }
  - { name: docs, kind: docs }
  - { name: keys, kind: secrets }
  - { name: covered, kind: coverage, run: "mkdir -p out && cp coverage.json out/", report: out/coverage.json }
`,
    '.gitignore': 'out/\n',
    'coverage.json': JSON.stringify({
      total: { lines: { total: 10, covered: 5 } },
      'src/old.ts': { lines: { total: 10, covered: 5 } },
    }),
  });
  repository.git('add', '-A');
  repository.git('commit', '-qm', 'Files of the test');
  await machine.up(root);
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});
const add = (title: string) =>
  machine.ask(root, (api, project) => api.addTask({ project, title, accept: ['There is a one'], pipeline: 'feature' }));
const detail = (number: number) => machine.ask(root, (api, project) => api.task({ project, task: String(number) }));
const prompts = (number: number, mode: string) =>
  readdirSync(door)
    .filter((name) => name.startsWith(`${number}-`) && name.endsWith(`-${mode}.txt`))
    .sort()
    .map((name) => readFileSync(join(door, name), 'utf8'));

describe('gates that look for something', () => {
  test('new findings go back to the agent; warnings reach reviewer and builder, and do not block', {
    timeout: 2 * MINUTE,
  }, async () => {
    const { number } = await add('One');
    await machine.idle(root);
    const { task, evidence } = await detail(number);
    expect(task, task.blocked?.text).toMatchObject({ stage: 'done' });
    const security = evidence.filter(({ gate }) => gate === 'security');
    expect(security[0]).toMatchObject({
      status: 'fail',
      scan: {
        kind: 'scan',
        counts: { critical: 1 },
        known: 1,
        findings: [{ id: 'no-eval', file: `src/new-${number}.ts`, line: 1 }],
      },
    });
    // What the target has already does not block.
    expect(security.at(-1)).toMatchObject({ status: 'pass', scan: { counts: { critical: 0 }, known: 1 } });
    const docs = evidence.filter(({ gate }) => gate === 'docs');
    expect(docs[0]).toMatchObject({ status: 'fail', severity: 'warn', scan: { percent: 0 } });
    const [review] = prompts(number, 'review');
    expect(review).toContain('docs: fail (a warning: it does not block)');
    expect(review).toContain(`src/new-${number}.ts:1: one has no documentation`);
    const [rework] = prompts(number, 'request_changes').filter((text) => text.includes('Say what it does.'));
    expect(rework).toContain('A warning, which does not block:');
    const { stdout } = await machine.run(['task', 'show', String(number)], root);
    expect(stdout).toMatch(/docs +warning/);
    expect(stdout).toContain('security: no new findings; 1 that the target has, too');
    expect((await machine.run(['evidence', 'verify'], root)).stdout).toContain('The evidence is valid.');
    const questions = await machine.ask(root, (api, project) => api.questions({ project }));
    expect(questions.map(({ text }) => text).join()).toContain('Tests reach 50 % of the lines; the goal is 80 %');
  });

  test('an agent that does not remove a finding blocks its task, and a person is asked about it', {
    timeout: 2 * MINUTE,
  }, async () => {
    const { number } = await add('A stubborn one');
    await until(async () => (await detail(number)).questions.some(({ status }) => status === 'open'));
    const { task, questions } = await detail(number);
    expect(task.landedCommit).toBeNull();
    const open = questions.find(({ status }) => status === 'open')!;
    expect(open.text).toContain(`gate security found no-eval (critical) in src/new-${number}.ts:1`);
    expect(open.options.map(({ label }) => label)).toContain('Accept the risk');
    expect(existsSync(join(root, `src/new-${number}.ts`))).toBe(false);
  });
});
