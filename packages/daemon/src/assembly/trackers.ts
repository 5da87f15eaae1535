import { AppError, type Config, type Project } from '@tidemill/contract';
import { CONFIG_FILE } from '../config/check.ts';
import type { FollowedTracker } from '../engine/deps.ts';
import type { Clock } from '../ports.ts';
import { FileTracker } from '../trackers/files/file-tracker.ts';
import type { GithubClient } from '../trackers/github/client/client.ts';
import { GithubTracker } from '../trackers/github/issues/github-tracker.ts';

interface Place {
  project: Project;
  dataDir: string;
  clock: Clock;
  github: GithubClient | null;
}

/** The tracker of a project. It stays the same while its settings do, so that what it has read stays known. */
export class ConfiguredTracker {
  #of = '';
  #github: GithubClient | null = null;
  #followed: FollowedTracker | null = null;

  async followed({ tracker: config }: Config, place: Place): Promise<FollowedTracker | null> {
    const settings = JSON.stringify([config, place.project.root]);
    const isSame = settings === this.#of && place.github === this.#github;
    if (!isSame) this.#followed = config ? await openTracker(config, place) : null;
    this.#of = settings;
    this.#github = place.github;
    return this.#followed;
  }
}

async function openTracker(
  config: NonNullable<Config['tracker']>,
  { project, dataDir, clock, github: client }: Place,
): Promise<FollowedTracker | null> {
  const { poll: pollMs, proposals: offersProposals } = config;
  if (config.type === 'files') {
    const tracker = new FileTracker({ root: project.root, folder: config.folder, dataDir });
    return { tracker, trust: 'push', pollMs, offersProposals, closes: true };
  }
  if (!client) return null;
  const { owner, name, host } = await client.place().catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    throw new AppError('bad_config', `${CONFIG_FILE}: tracker: ${error.message}`, { hint: error.hint, cause: error });
  });
  const repository = `${owner}/${name}`;
  const tracker = new GithubTracker({ client, config, clock, repository, url: `https://${host}/${repository}/issues` });
  return { tracker, trust: config.trust, pollMs, offersProposals, closes: config.close };
}
