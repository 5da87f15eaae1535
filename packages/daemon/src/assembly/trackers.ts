import type { Config, Project } from '@tidemill/contract';
import type { FollowedTracker } from '../engine/deps.ts';
import { FileTracker } from '../trackers/files/file-tracker.ts';

interface Place {
  project: Project;
  dataDir: string;
}

/** The tracker of a project. It stays the same while its settings do, so that what it has read stays known. */
export class ConfiguredTracker {
  #of = '';
  #followed: FollowedTracker | null = null;

  followed({ tracker: config }: Config, place: Place): FollowedTracker | null {
    const settings = JSON.stringify([config, place.project.root]);
    if (settings !== this.#of) this.#followed = config ? openTracker(config, place) : null;
    this.#of = settings;
    return this.#followed;
  }
}

function openTracker(config: NonNullable<Config['tracker']>, { project, dataDir }: Place): FollowedTracker | null {
  if (config.type === 'files') {
    const tracker = new FileTracker({ root: project.root, folder: config.folder, dataDir });
    return { tracker, trust: 'push', pollMs: config.poll, offersProposals: config.proposals, closes: true };
  }
  return null;
}
