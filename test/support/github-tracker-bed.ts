import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GithubConfig, GithubTrackerConfig } from '@tidemill/contract';
import { systemClock } from '../../packages/daemon/src/clock.ts';
import { GithubClient } from '../../packages/daemon/src/trackers/github/client/client.ts';
import { GithubTracker } from '../../packages/daemon/src/trackers/github/issues/github-tracker.ts';
import type { TrackerPlace } from '../contract/tracker-suite.ts';
import { EmulatedGithub } from './github/emulated-github.ts';

/** Trackers on one emulated GitHub. Each selects by its own label, so that tests do not see each other's issues. */
export class GithubTrackerBed {
  readonly github: EmulatedGithub;
  readonly #folder: string;
  #count = 0;

  private constructor(github: EmulatedGithub, folder: string) {
    this.github = github;
    this.#folder = folder;
  }

  static async start(): Promise<GithubTrackerBed> {
    const folder = mkdtempSync(join(tmpdir(), 'tidemill-issues-'));
    return new GithubTrackerBed(await EmulatedGithub.start({ folder }), folder);
  }

  async close(): Promise<void> {
    await this.github.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  newLabel(): string {
    this.#count += 1;
    return `agent-${this.#count}`;
  }

  open(config: object, token = 'ghp_mill', more: object = {}): GithubTracker {
    const github = GithubConfig.parse({ repository: 'ada/mill', api: this.github.url, ...more });
    const client = new GithubClient({
      ...{ config: github, root: this.#folder, env: { GITHUB_TOKEN: token }, clock: systemClock },
      remote: async () => null,
    });
    return new GithubTracker({
      ...{ client, clock: systemClock, repository: 'ada/mill', url: null },
      config: GithubTrackerConfig.parse({ type: 'github', ...config }),
    });
  }

  async place(): Promise<TrackerPlace> {
    const { github } = this;
    const label = this.newLabel();
    const ada = github.as('ada');
    const numberOf = (key: string) => Number(key.split('#')[1]);
    return {
      tracker: this.open({ labels: [label] }),
      other: this.open({ labels: [label] }, 'ghp_bob'),
      add: async ({ title, body = '', labels = [], blockedBy = [], isSelected = true }) => {
        const all = isSelected ? [...labels, label] : labels;
        const number = await ada.openIssue(title, body, { labels: all });
        for (const key of blockedBy) github.issues.block(number, numberOf(key));
        return `github:ada/mill#${number}`;
      },
      edit: async (key, change) => void (await ada.editIssue(numberOf(key), change)),
      close: async (key) => void (await ada.editIssue(numberOf(key), { state: 'closed' })),
      reopen: async (key) => void (await ada.editIssue(numberOf(key), { state: 'open' })),
      remove: async (key) => github.issues.remove(numberOf(key), 'deleted'),
      say: async (key, text, author = 'ada') => void (await github.as(author).comment(numberOf(key), text)),
      shown: async (key) => {
        const issue = await ada.ask<{ labels: { name: string }[] }>('GET', `/issues/${numberOf(key)}`);
        const comments = await ada.comments(numberOf(key));
        return { comments: comments.map(({ body }) => body), labels: issue.labels.map(({ name }) => name) };
      },
      stop: async () => undefined,
    };
  }
}
