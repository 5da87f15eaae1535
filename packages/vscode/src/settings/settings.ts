import { join } from 'node:path';
import type { WorkerView } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act } from '../act.ts';
import type { Link } from '../link.ts';
import { sayError, sayInfo, sayWarning } from '../say.ts';
import { limit, plural } from '../words.ts';
import { checkSettings, gapOf, type SettingsGap, WANTED, type WantedSettings } from './wanted.ts';

const NOTHING: WantedSettings = {
  workers: null,
  dailyBudgetUsd: null,
  monthlyBudgetUsd: null,
  enabledCategories: null,
};

/**
 * The person's settings, checked. They reach the daemon only by a click: a settings file of the workspace comes with the
 * repository, and an agent could have changed it.
 */
export class EditorSettings {
  readonly #link: Link;
  /** What was already said, so that it is said once. */
  readonly #said = new Set<string>();
  #now: WantedSettings = NOTHING;

  constructor(context: vscode.ExtensionContext, link: Link) {
    this.#link = link;
    context.subscriptions.push(
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (WANTED.some((name) => change.affectsConfiguration(`tidemill.${name}`))) void this.#load();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#load()),
      link.onChange((part) => {
        if (part === 'state' && link.seen.state === 'ready') void this.#offer();
      }),
    );
    void this.#load();
  }

  get now(): WantedSettings {
    return this.#now;
  }

  async #load(): Promise<void> {
    const { KNOWN } = await import('../contract-part.ts');
    const configuration = vscode.workspace.getConfiguration('tidemill');
    const given = Object.fromEntries(WANTED.map((name) => [name, configuration.get<unknown>(name)])) as Parameters<
      typeof checkSettings
    >[0];
    const categories = [...KNOWN.categories, ...(this.#link.seen.project?.rules.loop.categories ?? [])];
    const { settings, problems } = checkSettings(given, { ...KNOWN, categories });
    this.#now = settings;
    this.#link.log.info(`Settings: ${JSON.stringify(settings)}`);
    const news = problems.filter(({ text }) => !this.#said.has(text));
    for (const { text } of news) {
      this.#link.log.warn(text);
      this.#said.add(text);
    }
    if (news.length > 0) {
      const say = news.some(({ severity }) => severity === 'error') ? sayError : sayWarning;
      void say(news.map(({ text }) => text).join(' '));
    }
    await this.#offer();
  }

  /** Says once what the settings want and the daemon does not have. */
  async #offer(): Promise<void> {
    const { seen } = this.#link;
    if (seen.state !== 'ready' || !seen.project || !vscode.workspace.isTrusted) return;
    if (Object.values(this.#now).every((value) => value === null)) return;
    const { KNOWN } = await import('../contract-part.ts');
    const account = await act(this.#link, ({ api }) => api.budget({}));
    const all = account?.find(({ projectId }) => projectId === 'all');
    if (!all) return;
    const categories = seen.project.rules.loop.categories ?? KNOWN.categories;
    const workers = (await act(this.#link, ({ api, project }) => api.workers({ project })))?.filter(isBuilder);
    if (workers) await this.#ask(gapOf(this.#now, { ...all.limits, workers: workers.length, categories }), workers);
  }

  async #ask({ workers, dailyUsd, monthlyUsd, categories }: SettingsGap, now: WorkerView[]): Promise<void> {
    if (workers !== undefined) {
      const apply = 'Apply';
      const text = `Your setting tidemill.workers wants ${plural(workers, 'agent')} that build. Tidemill has ${now.length} here. The repository's config decides again after a restart.`;
      if (await this.#once(text, apply)) await this.#setWorkers(workers, now);
    }
    if (dailyUsd !== undefined || monthlyUsd !== undefined) {
      const parts = [
        ...(dailyUsd === undefined ? [] : [`${limit(dailyUsd)} a day`]),
        ...(monthlyUsd === undefined ? [] : [`${limit(monthlyUsd)} a month`]),
      ];
      const apply = 'Apply';
      const text = `Your settings limit the spend of all projects together to ${parts.join(' and ')}. Tidemill has other limits.`;
      if (await this.#once(text, apply))
        await act(this.#link, ({ api, project }) => api.limitBudget({ project, dailyUsd, monthlyUsd }));
    }
    if (categories) {
      const open = 'Open config';
      const text =
        "Your setting tidemill.enabledCategories differs from the repository's config, which decides. The line for it can be copied.";
      if (await this.#once(text, open)) await this.#openConfig(categories);
    }
  }

  /** The last ones are removed first. Their work is kept. */
  async #setWorkers(wanted: number, now: WorkerView[]): Promise<void> {
    await act(this.#link, async ({ api, project }) => {
      for (let count = now.length; count < wanted; count += 1) await api.addWorker({ project });
      for (const { name } of now.slice(wanted)) await api.removeWorker({ project, worker: name });
    });
  }

  async #once(text: string, action: string): Promise<boolean> {
    if (this.#said.has(text)) return false;
    this.#said.add(text);
    return (await sayInfo(text, action)) === action;
  }

  /** The person pastes and saves: the repository's config is never written here. */
  async #openConfig(categories: string[]): Promise<void> {
    if (!this.#link.root) return;
    await vscode.env.clipboard.writeText(`loop:\n  categories: [${categories.join(', ')}]\n`);
    await vscode.window.showTextDocument(vscode.Uri.file(join(this.#link.root, '.tidemill', 'config.yaml')));
    void sayInfo('The lines are in the clipboard. Paste them and save; Tidemill follows the file.');
  }
}

const isBuilder = ({ role, isOutside }: WorkerView) => role === 'builder' && !isOutside;
