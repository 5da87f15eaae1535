import { type IdeaDetail, type ProposalView, type SpecDetail, taskIdOf } from '@tidemill/contract';
import { expect } from 'vitest';
import { ANSWER, configOf, FEEDBACK, MESSAGES, PROPOSALS, scenarioOf } from '../support/mission/whole-story.ts';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const GATE = 'test -f README.md';

interface Story {
  machine: TidemillHome;
  repository: TemporaryRepository;
}

interface Cast {
  /** The entries of `agents`. */
  agents: object;
  tasks: number;
  env?: NodeJS.ProcessEnv;
}

/** A person goes from an idea to landed work and to the next proposal, by command line only. */
export async function playStory({ agents, tasks, env = {} }: Cast): Promise<void> {
  const machine = new TidemillHome(env);
  const repository = new TemporaryRepository({
    'README.md': '# Gate hours\n',
    'hours.txt': '',
    '.tidemill/config.yaml': configOf(agents, GATE),
    '.tidemill/scenario.json': JSON.stringify(scenarioOf(tasks)),
  });
  try {
    await machine.up(repository.root);
    await walk({ machine, repository }, tasks);
  } finally {
    await machine.close();
    repository.remove();
  }
}

/** Plays the scenario of the story. */
export const SCRIPTED = { default: { type: 'scripted', script: '.tidemill/scenario.json' } };

/** Everything a person does, with commands only. */
async function walk({ machine, repository }: Story, tasks: number): Promise<void> {
  const { root } = repository;
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
  const replied = () =>
    until(() =>
      machine.ask(root, async (api, project) => (await api.idea({ project, idea: '1' })).idea.jobId === null),
    );
  /** Once nobody works on it and its questions are answered. */
  const phase = async () => {
    await replied();
    const { idea, questions } = await json<IdeaDetail>('idea', 'show', '1');
    const open = questions.filter(({ type }) => type === 'blocking');
    if (open.length === 0) return idea.phase;
    await answerAll(open);
    await replied();
    return (await json<IdeaDetail>('idea', 'show', '1')).idea.phase;
  };
  await cli('idea', MESSAGES[0]);
  const phases = [await phase()];
  for (const message of MESSAGES.slice(1)) {
    await cli('idea', 'say', '1', message);
    phases.push(await phase());
  }
  expect(phases).toEqual(['NARROWING', 'VALIDATING', 'REFINING', 'COMPLETE']);

  // Its specification, with one ambiguity that is asked and answered.
  await cli('spec', 'new', '--idea', '1');
  const spec = () => json<SpecDetail>('spec', 'show', '1');
  const becomes = (status: string) =>
    until(() =>
      machine.ask(root, async (api, project) => (await api.spec({ project, spec: 1 })).spec.status === status),
    );
  await becomes('asking');
  const asking = await spec();
  expect(asking.tasks.filter(({ number }) => number !== null)).toEqual([]);
  await answerAll(asking.questions.filter(({ answer }) => answer === null));
  await becomes('draft');
  await cli('spec', 'approve', '1');
  await becomes('done');
  const built = await spec();
  expect(built.requirements.map(({ met }) => met)).toEqual([true, true]);
  expect(built.tasks.map(({ stage }) => stage)).toEqual(Array(tasks).fill('done'));

  // Feedback becomes a bug that lands.
  await cli('feedback', FEEDBACK);
  await landed(machine, tasks + 1);
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
  await landed(machine, tasks + 2);
  await cli('loop', 'off');
  expect(repository.git('log', '-1', '--format=%s', 'main')).toContain(PROPOSALS[0]);
  expect(repository.git('ls-tree', '-r', '--name-only', 'main', 'parts').split('\n')).toHaveLength(tasks + 2);
  expect(await cli('doctor')).toContain('No problems.');
  expect(await cli('evidence', 'verify', 'main')).toContain('valid');
}

/** Waits for the landing of the task with this number. */
async function landed(machine: TidemillHome, number: number): Promise<void> {
  const { body } = await machine.event('task.created', (created) => created.number === number);
  await machine.event('merge.landed', ({ taskId }) => taskId === taskIdOf(body));
}
