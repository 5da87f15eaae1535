import { AppError, type Task } from '@tidemill/contract';
import { expect } from 'vitest';
import { until } from '../until.ts';
import { git } from './git-backend.ts';
import { GithubBed } from './github-bed.ts';

type Issue = { state: string; number: number; title: string; labels: { name: string }[] };

const PATIENCE_MS = 90_000;

const CRITERIA = ['there is a constant', 'the word is written once', 'the tests pass'];
const proposed = {
  title: 'Name the greeting once',
  description: 'The word Hello is repeated. A constant keeps it in one place.',
  criteria: CRITERIA,
  effortHours: 1,
  files: ['hello.txt'],
};
/** What the agents do: they write a file named as the title says, do what people ask, and one of them is never content. */
const SCENARIO = {
  runs: [
    {
      when: { task: 'Name the', mode: 'implement' },
      do: [{ write: { path: 'hello.txt', content: 'HELLO = Hello\n' } }, { result: {} }],
    },
    { when: { task: 'quarrel', mode: 'review' }, do: [{ result: { reject: 'I do not like it.' } }] },
    {
      when: { task: 'quarrel', mode: 'request_changes' },
      do: [
        { append: { path: 'quarrel.txt', content: 'again {attempt}\n' } },
        { run: 'date +%N >> quarrel.txt' },
        { result: {} },
      ],
    },
    {
      when: { feedback: 'in capitals' },
      do: [{ run: 'tr a-z A-Z < {taskTitle}.txt > t && mv t {taskTitle}.txt' }, { result: {} }],
    },
    { when: { mode: 'propose' }, do: [{ result: { summary: proposed.title, proposal: proposed } }] },
  ],
  default: {
    implement: [
      { write: { path: '{taskTitle}.txt', content: '{taskTitle}\n' } },
      { result: { summary: 'wrote {taskTitle}' } },
    ],
    request_changes: [{ resolve: {} }, { append: { path: '{taskTitle}.txt', content: 'more\n' } }, { result: {} }],
    review: [{ result: { approve: true } }],
  },
};

/** A team that lives on GitHub, from the first issue to the last merge. Everything waits for what people see on GitHub. */
export class GithubWalk {
  readonly bed: GithubBed;
  /** The required check is reported for every commit of a pull request, as a workflow would. */
  readonly #workflow: { isOver: boolean; ended: Promise<void> };

  private constructor(bed: GithubBed) {
    this.bed = bed;
    const workflow = { isOver: false, ended: Promise.resolve() };
    workflow.ended = (async () => {
      while (!workflow.isOver) {
        for (const pull of await bed.github.pulls.all())
          if (pull.state === 'open') bed.github.checks.report(pull.head.sha, 'ci', 'success');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    })();
    this.#workflow = workflow;
  }

  static async open(): Promise<GithubWalk> {
    const bed = await GithubBed.open({
      pipeline: 'feature',
      agent: '{ type: scripted, script: scenario.json }',
      files: { 'scenario.json': JSON.stringify(SCENARIO), 'hello.txt': 'Hello\n' },
      config: `tracker: { type: github, labels: [agent], poll: 1s }
pullRequest: { poll: 300ms }
critical: [crucial.txt]
loop: { approval: requires_approval }
`,
    });
    bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    await bed.up();
    return new GithubWalk(bed);
  }

  async close(): Promise<void> {
    this.#workflow.isOver = true;
    await this.#workflow.ended;
    await this.bed.close();
  }

  /** Asks until it is so; the daemon may be down in between. Says how things stand when it takes too long. */
  async #until<T>(look: () => Promise<T | null | false>): Promise<T> {
    let found: T | null | false = null;
    let refused = '';
    const deadline = Date.now() + PATIENCE_MS;
    await until(async () => {
      if (Date.now() > deadline) throw new Error(`it took too long. ${refused}\n${await this.#state()}`);
      try {
        found = await look();
      } catch (error) {
        if (!(error instanceof AppError || error instanceof TypeError)) throw error;
        refused = error.message;
        found = null;
      }
      return found !== null && found !== false;
    });
    return found as T;
  }

  async #state(): Promise<string> {
    const { bed } = this;
    const tasks = await bed.machine.ask(bed.root, (api, project) => api.tasks({ project, limit: 100 }));
    const details = await Promise.all(tasks.map(({ number }) => bed.task(number)));
    const lines = details.map(
      ({ number, title, stage, waiting, blocked, pull, feedback }) =>
        `#${number} ${title} ${stage} ${waiting ?? ''} ${blocked?.text ?? ''} pull ${pull?.number} ${JSON.stringify(feedback)}`,
    );
    return [
      ...lines,
      ...bed.github.log.slice(-20).map(({ method, path, status }) => `${method} ${path} ${status}`),
    ].join('\n');
  }

  issue = (number: number) => this.bed.github.as('ada').ask<Issue>('GET', `/issues/${number}`);
  labels = async (number: number) => (await this.issue(number)).labels.map(({ name }) => name);
  isClosed = (number: number) => this.#until(async () => (await this.issue(number)).state === 'closed');

  #open(title: string): Promise<number> {
    return this.bed.github.as('ada').openIssue(title, '- [ ] there is a file', { labels: ['agent'] });
  }

  #pullOf = async (title: string) =>
    (await this.bed.github.pulls.all()).filter(({ head }) => head.ref.endsWith(`-${title}`)).at(0) ?? null;

  #task(title: string, isSo: (task: Task) => boolean = () => true): Promise<Task> {
    return this.#until(async () => {
      const { bed } = this;
      const tasks = await bed.machine.ask(bed.root, (api, project) => api.tasks({ project, limit: 100 }));
      const found = tasks.find((task) => task.title === title);
      if (!found) return null;
      const task = await bed.task(found.number);
      return isSo(task) ? task : null;
    });
  }

  /** Three issues; one of their pull requests gets a comment. */
  async threeIssues(): Promise<number[]> {
    const numbers: number[] = [];
    for (const title of ['apples', 'pears', 'plums']) numbers.push(await this.#open(title));
    this.bed.github.pulls.protections.set('main', { contexts: ['ci', 'hand'] });
    const pull = await this.#until(() => this.#pullOf('pears'));
    expect(pull.body).toMatch(/- \[x\] there is a file/);
    expect(pull.body).toMatch(/evidence `[0-9a-f]{64}`/);
    expect(pull.body).toContain(`Closes #${numbers[1]}`);
    await this.bed.github.as('bob').comment(pull.number, 'Write it in capitals, please.');
    await this.#until(async () => {
      const now = await this.#pullOf('pears');
      return (await git(this.bed.github.repository, 'show', `${now!.head.sha}:pears.txt`)) === 'PEARS';
    });
    this.bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    for (const number of numbers) await this.isClosed(number);
    expect(await git(this.bed.github.repository, 'show', 'main:pears.txt')).toBe('PEARS');
    return numbers;
  }

  /** A conflict in a file that only people resolve. */
  async conflict(): Promise<number> {
    this.bed.github.pulls.protections.set('main', { contexts: ['ci', 'hand'] });
    const number = await this.#open('crucial');
    await this.#until(() => this.#pullOf('crucial'));
    await this.bed.push('crucial.txt', 'theirs\n');
    await this.#until(async () => (await this.labels(number)).includes('needs-manual-resolution'));
    const { number: task } = await this.#task('crucial', ({ blocked }) => blocked?.reason === 'conflict');
    await this.#until(async () => {
      await this.bed.machine.ask(this.bed.root, async (api, project) => {
        const of = { project, task: String(task), by: 'ada' };
        // Looking at it begins the merge in the worktree.
        await api.conflict({ project, task: String(task) });
        await api.resolveFile({ ...of, path: 'crucial.txt', resolution: { text: 'theirs\ncrucial\n' } });
        await api.settleConflict(of);
      });
      return true;
    });
    this.bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    await this.isClosed(number);
    expect(await this.labels(number)).not.toContain('needs-manual-resolution');
    return number;
  }

  /** A reviewer who rejects three times; then a person decides. */
  async escalation(): Promise<number> {
    const number = await this.#open('quarrel');
    await this.#until(async () => (await this.labels(number)).includes('review-escalation'));
    const comments = await this.bed.github.as('ada').comments(number);
    expect(comments.map(({ body }) => body).join()).toContain('I do not like it.');
    const { number: task } = await this.#task('quarrel', ({ blocked }) => blocked?.reason === 'review_escalation');
    await this.#until(async () => {
      await this.bed.machine.ask(this.bed.root, (api, project) => api.approveTask({ project, task, by: 'ada' }));
      return true;
    });
    await this.isClosed(number);
    return number;
  }

  /** Tidemill proposes an improvement, a person approves it, and it becomes an issue that lands like the others. */
  async proposal(): Promise<number> {
    const { bed } = this;
    await this.#until(() =>
      bed.machine.ask(bed.root, (api, project) => api.switchLoop({ project, on: true, by: 'ada' })),
    );
    await this.#until(() =>
      bed.machine.ask(bed.root, (api, project) => api.approveProposal({ project, proposal: '1', by: 'ada' })),
    );
    await this.#until(() =>
      bed.machine.ask(bed.root, (api, project) => api.switchLoop({ project, on: false, by: 'ada' })),
    );
    const made = await this.#until(async () => {
      const all = await bed.github.as('ada').ask<Issue[]>('GET', '/issues?state=all&per_page=100');
      return (
        all.find(
          ({ title, labels }) => title === proposed.title && labels.some(({ name }) => name === 'agent-generated'),
        ) ?? null
      );
    });
    expect(made.labels.some(({ name }) => name.startsWith('category:'))).toBe(true);
    await this.isClosed(made.number);
    return made.number;
  }

  /** Nothing was done twice on GitHub: one issue, one comment and one pull request each, no forced push. */
  async nothingDoubled(numbers: number[]): Promise<void> {
    const { github } = this.bed;
    const bot = github.as('ada');
    const issues = (
      await bot.ask<(Issue & { pull_request?: object })[]>('GET', '/issues?state=all&per_page=100')
    ).filter((one) => !one.pull_request);
    expect(issues.map(({ number }) => number).sort((a, b) => a - b)).toEqual([...numbers].sort((a, b) => a - b));
    for (const number of numbers) {
      const own = (await bot.comments(number)).filter(({ user }) => user.login === 'mill-bot');
      expect(own, `comments on #${number}`).toHaveLength(1);
    }
    const pulls = await github.pulls.all();
    expect(new Set(pulls.map(({ head }) => head.ref)).size).toBe(pulls.length);
    expect(pulls).toHaveLength(numbers.length);
    for (const { number } of pulls) {
      const own = (await bot.comments(number)).filter(({ user }) => user.login === 'mill-bot');
      expect(own, `comments on pull request #${number}`).toHaveLength(0);
    }
    const messages = await git(github.repository, 'log', '--format=%(trailers:key=Task,valueonly)', 'main');
    const landed = messages.split('\n').filter(Boolean);
    expect(new Set(landed).size).toBe(landed.length);
    expect(landed).toHaveLength(numbers.length);
  }
}
