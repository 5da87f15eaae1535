import { delimiter, join } from 'node:path';
import { type IdeaDetail, type ProposalView, type SpecDetail, taskIdOf } from '@tidemill/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { approved } from '../support/mission/vendor-tasks.ts';
import { claude, install, type VendorModel } from '../support/mission/vendors.ts';
import {
  ANSWER,
  configOf,
  FEEDBACK,
  MESSAGES,
  PROPOSALS,
  resultFor,
  scenarioOf,
} from '../support/mission/whole-story.ts';
import { type Assignment, type Move, result, write } from '../support/model/mind.ts';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const GATE = 'test -f README.md';

let machine: TidemillHome;
let repository: TemporaryRepository;
let model: VendorModel | undefined;
afterEach(async () => {
  await model?.stop();
  model = undefined;
  await machine.close();
  repository.remove();
});

async function open(files: Record<string, string>, env: NodeJS.ProcessEnv = {}): Promise<string> {
  machine = new TidemillHome(env);
  repository = new TemporaryRepository({ 'README.md': '# Gate hours\n', 'hours.txt': '', ...files });
  await machine.up(repository.root);
  return repository.root;
}

/** Everything a person does, with commands only. */
async function walk(root: string, tasks: number): Promise<void> {
  const cli = async (...args: string[]) => {
    const { code, stdout, stderr } = await machine.run(args, root);
    expect(code, `tidemill ${args.join(' ')}: ${stderr}${stdout}`).toBe(0);
    return stdout;
  };
  const json = <T>(...args: string[]) => machine.json<T>(args, root);
  const answerAll = async (questions: readonly { ref: string; text: string; type: string }[]) => {
    for (const { ref, text, type } of questions)
      if (type === 'blocking') await cli('answer', ref, text.includes('large') ? ANSWER : 'Skippers of small ships');
  };

  // An idea, through four phases, to its brief.
  const idea = () => json<IdeaDetail>('idea', 'show', '1');
  const settled = async () => {
    await until(async () => (await idea()).idea.jobId === null);
    await answerAll((await idea()).questions);
    await until(async () => (await idea()).idea.jobId === null);
  };
  await cli('idea', MESSAGES[0]);
  await settled();
  const phases = [(await idea()).idea.phase];
  for (const message of MESSAGES.slice(1)) {
    await cli('idea', 'say', '1', message);
    await settled();
    phases.push((await idea()).idea.phase);
  }
  expect(phases).toEqual(['NARROWING', 'VALIDATING', 'REFINING', 'COMPLETE']);

  // Its specification, with one ambiguity that is asked and answered.
  await cli('spec', 'new', '--idea', '1');
  const spec = () => json<SpecDetail>('spec', 'show', '1');
  await until(async () => (await spec()).spec.status === 'asking');
  expect((await spec()).tasks.filter(({ number }) => number !== null)).toEqual([]);
  await answerAll((await spec()).questions.filter(({ answer }) => answer === null));
  await until(async () => (await spec()).spec.status === 'draft');
  await cli('spec', 'approve', '1');
  await until(
    async () => (await machine.ask(root, (api, project) => api.spec({ project, spec: 1 }))).spec.status === 'done',
  );
  const built = await spec();
  expect(built.requirements.map(({ met }) => met)).toEqual([true, true]);
  expect(built.tasks.map(({ stage }) => stage)).toEqual(Array(tasks).fill('done'));

  // Feedback becomes a bug that lands.
  await cli('feedback', FEEDBACK);
  await landed(tasks + 1);
  expect(repository.git('log', '-1', '--format=%s', 'main')).toContain('Begin the list today');
  expect(await cli('task', 'show', String(tasks + 1))).toContain('from F1 ');
  expect(await cli('task', 'show', '1')).toContain('from S1 Opening hours of the gate (R1)');

  // An empty queue: three proposals, one of which is approved and lands.
  await cli('loop', 'on');
  await machine.event('proposal.checked', ({ number }) => number === 3);
  // Agents look for them side by side, so their numbers are in the order of the ends.
  const waiting = await json<ProposalView[]>('loop', 'proposals');
  const sorting = waiting.find(({ draft }) => draft.title === PROPOSALS[0])!;
  await cli('loop', 'approve', String(sorting.number));
  await landed(tasks + 2);
  await cli('loop', 'off');
  expect(repository.git('log', '-1', '--format=%s', 'main')).toContain(PROPOSALS[0]);
  expect(repository.git('ls-tree', '-r', '--name-only', 'main', 'parts').split('\n')).toHaveLength(tasks + 2);
  expect(await cli('doctor')).toContain('No problems.');
  expect(await cli('evidence', 'verify', 'main')).toContain('valid');
}

/** Waits for the landing of the task with this number. */
async function landed(number: number): Promise<void> {
  const { body } = await machine.event('task.created', (created) => created.number === number);
  await machine.event('merge.landed', ({ taskId }) => taskId === taskIdOf(body));
}

describe('from an idea to landed work, and from an empty queue to the next idea', () => {
  test('with the scripted agent, by command line only', { timeout: 4 * MINUTE }, async () => {
    const tasks = 8;
    const agents = { default: { type: 'scripted', script: '.tidemill/scenario.json' } };
    const root = await open({
      '.tidemill/config.yaml': configOf(agents, GATE),
      '.tidemill/scenario.json': JSON.stringify(scenarioOf(tasks)),
    });
    await walk(root, tasks);
  });

  test('with Claude Code and a scripted model', { timeout: 6 * MINUTE }, async (context) => {
    const found = await install(claude);
    context.skip('missing' in found, 'missing' in found ? found.missing : '');
    if ('missing' in found) return;
    // `npm run vendors` plays all eight.
    const tasks = process.env.TIDEMILL_VENDORS === 'all' ? 8 : 2;
    model = await claude.serve((about) => mind(about, tasks));
    const agents = { default: claude.agent(model.url, found) };
    const root = await open(
      { '.tidemill/config.yaml': configOf(agents, GATE) },
      { PATH: [join(found.bin), process.env.PATH].join(delimiter) },
    );
    await walk(root, tasks);
  });
});

function mind({ mode, task, prompt, results }: Assignment, tasks: number): Move {
  if (mode === 'plan') return result('plan_complete', { plan: 'Write it.' });
  if (mode === 'investigate')
    return result('investigation_complete', { investigationSummary: 'Found.', plan: 'Mend.' });
  if (mode === 'review') return approved(prompt);
  if (mode === 'implement' || mode === 'request_changes')
    return results.length === 0 ? write(`parts/${task}.txt`, `part ${task}\n`) : result('pr_ready');
  const part = resultFor(tasks, mode, prompt);
  return result(part.outcome, part.result);
}
