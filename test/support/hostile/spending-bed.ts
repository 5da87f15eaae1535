import type { AccountView, Api, EventBody, Usage } from '@tidemill/contract';
import { expect } from 'vitest';
import { TemporaryRepository } from '../../e2e/cli-repository.ts';
import { TidemillHome } from '../tidemill-home.ts';
import { AGENT, configOf, type LIES, LIMIT, noon, ONE, type SPENDERS } from './budget-tricks.ts';

export interface SpendingProject {
  id: string;
  root: string;
}

/** One daemon; each trick has a project with a budget of its own. */
export class SpendingBed {
  readonly machine = new TidemillHome();
  readonly #repositories: TemporaryRepository[] = [];
  api!: Api;

  #repositoryWith(config: string): TemporaryRepository {
    const repository = new TemporaryRepository({ '.tidemill/config.yaml': config, 'agent.mjs': AGENT });
    this.#repositories.push(repository);
    return repository;
  }

  async open(): Promise<void> {
    await this.machine.up(this.#repositoryWith(configOf(1_000, 1)).root);
    this.api = this.machine.api();
    const [first] = await this.api.projects({});
    await this.api.limitBudget({ project: first!.id, dailyUsd: 100_000, monthlyUsd: 1_000_000, timeZone: noon });
  }
  async close(): Promise<void> {
    await this.machine.close();
    for (const repository of this.#repositories) repository.remove();
  }

  async attach(config: string): Promise<SpendingProject> {
    const { root } = this.#repositoryWith(config);
    const { project } = await this.api.attachProject({ root });
    return { id: project.id, root };
  }

  /** How the first run of each of these tasks ended, by the task's title. */
  async runsOf(project: SpendingProject, tasks: { title: string; body: string }[]): Promise<Map<string, Usage>> {
    const titles = new Map<string, string>();
    for (const task of tasks) titles.set((await this.api.addTask({ project: project.id, ...task })).id, task.title);
    const ended = new Map<string, Usage>();
    for await (const body of this.#follow(project, ['run.finished'])) {
      const title = body.type === 'run.finished' && titles.get(body.subjectId);
      if (title && !ended.has(title)) ended.set(title, body.usage);
      if (ended.size === tasks.length) break;
    }
    return ended;
  }

  async *#follow(project: SpendingProject, types: EventBody['type'][]): AsyncGenerator<EventBody> {
    const over = new AbortController();
    try {
      for await (const { body } of this.api.events({ project: project.id, follow: true, types }, over.signal))
        yield body;
    } finally {
      over.abort();
    }
  }

  accountOf = async ({ id }: SpendingProject) => (await this.api.budget({})).find(({ projectId }) => projectId === id)!;

  /** Waits until the limit has stopped the project's agents; returns what was spent by then. */
  async stoppedAt(project: SpendingProject, agents: number): Promise<AccountView> {
    let waiting = 0;
    for await (const _ of this.#follow(project, ['task.waiting'])) {
      waiting += 1;
      if (waiting === agents) break;
    }
    return this.accountOf(project);
  }

  /** Each lie is booked where it is valid, and as a request of unknown price where it is not. */
  async expectBooked(lies: typeof LIES): Promise<void> {
    const project = await this.attach(configOf(1_000, 4));
    const ended = await this.runsOf(
      project,
      lies.map(([title, body]) => ({ title, body })),
    );
    const booked = lies.map(([title]) => [title, ended.get(title)?.costUsd]);
    expect(booked).toEqual(lies.map(([title, , usd]) => [title, usd]));
    const all = [...ended.values()].reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
    // A crashed one was retried in the meantime.
    expect((await this.accountOf(project)).daily.spentUsd).toBeGreaterThanOrEqual(all - 1e-6);
    expect((await this.accountOf(project)).daily.spentUsd).toBeLessThanOrEqual(all + 2 * ONE + 1e-6);
  }

  /** It is frozen at the limit and killed, and nothing new starts. */
  async expectStopped([title, body, mostUsd]: (typeof SPENDERS)[number]): Promise<void> {
    const project = await this.attach(configOf(LIMIT, 1));
    await this.api.addTask({ project: project.id, title, body });
    await this.api.addTask({ project: project.id, title: 'comes too late', body: `await done()` });
    const { daily, stopped } = await this.stoppedAt(project, 1);
    expect(daily.spentUsd).toBeGreaterThanOrEqual(LIMIT - 1e-6);
    expect(daily.spentUsd).toBeLessThanOrEqual(mostUsd + 1e-6);
    expect(daily.reservedUsd).toBe(0);
    expect(stopped).toContain('used up');
    const { runs } = await this.api.task({ project: project.id, task: 2 });
    expect(runs).toEqual([]);
  }

  /** Every figure that a person sees is a number, and the store is intact. */
  async expectFigures(): Promise<void> {
    const [first] = this.#repositories;
    const shown: unknown[] = [await this.machine.json<AccountView[]>(['budget'], first!.root)];
    for (const { id: project } of await this.api.projects({}))
      shown.push(
        await this.api.status({ project }),
        await this.api.metrics({ project }),
        await this.api.history({ project }),
      );
    const numbers = numbersIn(shown);
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.every(Number.isFinite)).toBe(true);
    const { findings } = await this.api.doctor({});
    expect(findings.filter(({ check, level }) => (check === 'log' || check === 'store') && level !== 'ok')).toEqual([]);
  }
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}
