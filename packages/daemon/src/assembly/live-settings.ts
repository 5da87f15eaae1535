import { existsSync } from 'node:fs';
import {
  ALL_PROJECTS,
  type AlertKind,
  AppError,
  accountId,
  type Config,
  type Project,
  type Severity,
  workerIdOf,
} from '@tidemill/contract';
import { budgetAccountOf, Calendars } from '@tidemill/core';
import { CONFIG_FILE, type Settings } from '../config/check.ts';
import { loadSettings } from '../config/load.ts';
import { watchSettings } from '../config/watch.ts';
import { saveProject } from '../handlers/project/project.ts';
import type { MetricsSource } from '../metrics/metrics.ts';
import type { OtlpExport } from '../metrics/otlp.ts';
import type { Clock, Store } from '../ports.ts';
import { checkAgents, type ProjectEngine } from './project-engine.ts';

interface Surroundings {
  store: Store;
  /** The data folder, as part of worker ids. */
  host: string;
  clock: Clock;
  metrics: MetricsSource;
  onNote(text: string, error?: unknown): void;
  /** Mistakes around the config: see setup-warnings.ts. */
  setupWarnings(): Promise<string[]>;
  /** Those of them that are worth an alert. */
  setupMistakes(): Promise<string[]>;
  /** For other parts that follow the config. Called at the start and after each valid change. */
  onChange?(project: Project, config: Config): void;
}

/** Settings that take effect only with the next start. */
const FIXED = ['target', 'landing', 'push'] as const;

/**
 *   config file ──changed──▶ checked ──▶ rules recorded, agents, gates and workers replaced
 *                               └─ invalid: alert, the previous settings stay in effect
 */
export class LiveSettings {
  readonly #made: ProjectEngine;
  readonly #around: Surroundings;
  readonly #first: Settings;
  /** A number of workers given on the command line has priority. */
  readonly #areWorkersGiven: boolean;
  readonly #end = new AbortController();
  #current: Settings;
  #watching: Promise<void> = Promise.resolve();
  #warnings: string[] = [];
  #export: { url: string; otlp: OtlpExport } | null = null;

  constructor(made: ProjectEngine, settings: Settings, areWorkersGiven: boolean, around: Surroundings) {
    this.#made = made;
    this.#first = settings;
    this.#current = settings;
    this.#areWorkersGiven = areWorkersGiven;
    this.#around = around;
  }

  /** Problems in the current settings. */
  get warnings(): string[] {
    return this.#warnings;
  }

  get config(): Config {
    return this.#current.config;
  }

  /** `mark` was taken before the settings were read, so that no change is missed. */
  async start(mark: string): Promise<void> {
    await this.#hold(this.#current, []);
    const { clock, onNote } = this.#around;
    const { signal } = this.#end;
    this.#watching = watchSettings(this.#made.project.root, mark, {
      clock,
      signal,
      onChange: () => this.#reload().catch((error: unknown) => onNote('a changed config could not be applied', error)),
    });
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#watching;
    await this.#export?.otlp.stop();
  }

  async #reload(): Promise<void> {
    const { root } = this.#made.project;
    const { store, onNote } = this.#around;
    // The engine reports the missing repository. When it is back, the file has changed again.
    if (!existsSync(root)) return;
    try {
      const settings = await loadSettings(root);
      const later = FIXED.filter((key) => settings.config[key] !== this.#first.config[key]).map(
        (key) => `${CONFIG_FILE}: ${key} stays ${this.#first.config[key]} until the daemon is restarted`,
      );
      for (const key of FIXED) Object.assign(settings.config, { [key]: this.#first.config[key] });
      await checkAgents(settings.config, root);
      const { project } = await saveProject({ store }, root, settings);
      await this.#made.reconfigure(project, settings);
      const { workers } = this.#current.config;
      this.#current = settings;
      if (settings.config.workers !== workers && !this.#areWorkersGiven) await this.#resize(settings.config.workers);
      onNote(`${CONFIG_FILE} was changed and is now in effect`);
      await this.#hold(settings, later);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const text = `The changed settings are not used. The previous settings stay in effect.\n${error.message}`;
      this.#warnings = [text];
      await this.#tell('config_invalid', text, 'warning');
    }
  }

  async #hold({ config, warnings, replaced }: Settings, later: string[]): Promise<void> {
    const around = this.#around;
    const budget = await this.#budgetWarnings(config);
    this.#warnings = [...warnings, ...later, ...budget, ...(await around.setupWarnings())];
    const told = [...replaced, ...later, ...budget, ...(await around.setupMistakes())];
    await this.#endAlerts(told);
    if (told.length > 0) await this.#tell('config_adjusted', told.join('\n'), 'warning');
    await this.#sendTo(config.telemetry.otlp);
    this.#around.onChange?.(this.#made.project, config);
  }

  /** Sends metrics to a collector, if configured. A missing collector does not stop the work. */
  async #sendTo(url: string | undefined): Promise<void> {
    if (url === this.#export?.url) return;
    const { metrics, onNote } = this.#around;
    await this.#export?.otlp.stop();
    this.#export = null;
    if (url === undefined) return;
    const { startOtlp } = await import('../metrics/otlp.ts');
    this.#export = { url, otlp: await startOtlp({ url, project: this.#made.project, metrics, onNote }) };
  }

  async #budgetWarnings({ budget }: Config): Promise<string[]> {
    const { store, clock } = this.#around;
    const stored = await store.record('account', accountId(ALL_PROJECTS)).catch(unreadable);
    if (stored instanceof AppError)
      return [
        `no agent is started, because the budget cannot be read: ${stored.message.split('\n')[0]} ${stored.hint}`,
      ];
    const { limits } = budgetAccountOf(null, stored ?? undefined, clock.now(), new Calendars());
    if (budget.dailyUsd <= limits.dailyUsd && budget.monthlyUsd <= limits.monthlyUsd) return [];
    return [
      `the budget of all projects is ${limits.dailyUsd} USD a day and ${limits.monthlyUsd} USD a month, less than this project's own: \`tidemill budget --total-daily\` and \`--total-monthly\` raise it`,
    ];
  }

  async #resize(workers: number): Promise<void> {
    const { store, host } = this.#around;
    const { id: projectId } = this.#made.project;
    const wanted = Array.from({ length: workers }, (_, index) => `agent-${index + 1}`);
    const known = await store.workers(projectId);
    const builders = known.filter((worker) => worker.role === 'builder' && worker.host === host);
    for (const { id: workerId, name } of builders)
      if (!wanted.includes(name)) await store.execute({ type: 'worker.remove', projectId, workerId });
    for (const name of wanted) {
      if (builders.some((worker) => worker.name === name)) continue;
      const workerId = workerIdOf(projectId, name, host);
      await store.execute({ type: 'worker.register', projectId, workerId, name, role: 'builder', host });
    }
  }

  /** Ends what was told about earlier settings, without what is still true. */
  async #endAlerts(told: string[]): Promise<void> {
    const { store } = this.#around;
    const { id: projectId } = this.#made.project;
    const open = await store.records({ noun: 'alert', projectId, isOpen: true });
    for (const { kind, subject } of open) {
      const isOver = kind === 'config_adjusted' && subject !== subjectOf(told.join('\n'));
      if (isOver || kind === 'config_invalid') await store.execute({ type: 'alert.resolve', projectId, kind, subject });
    }
  }

  async #tell(kind: AlertKind, text: string, severity: Severity): Promise<void> {
    const { store, onNote } = this.#around;
    onNote(text);
    const { id: projectId } = this.#made.project;
    const about = { projectId, taskId: null, kind, text, severity, subject: subjectOf(text) };
    await store.execute({ type: 'alert.raise', ...about });
  }
}

/** The text is part of the subject, so that another problem raises its own alert. */
const subjectOf = (text: string) => text.slice(0, 200);

/** The rest of the store is readable without it. */
function unreadable(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'store_failed') return error;
  throw error;
}
