import { AppError, type ChannelView, type Config, type NotifySettings, type Project } from '@tidemill/contract';
import type { ChannelDelivery } from '../channels/delivery.ts';
import { Screens } from '../channels/screens.ts';
import { loadSettings } from '../config/load.ts';
import type { Clock, OpenChannel, Reactors, Store } from '../ports.ts';

export interface ProjectChannelsOptions {
  store: Store;
  clock: Clock;
  reactors: Reactors;
  env: NodeJS.ProcessEnv;
  apiUrl: string;
  dataDir: string;
  homeId: string;
  onNote(text: string, error?: unknown): void;
}

/** All channels of one process. Their code is loaded when the first project has one. */
export class ProjectChannels {
  readonly screens = new Screens();
  readonly #host: ProjectChannelsOptions;
  #opener: Promise<OpenChannel> | undefined;
  #delivery: Promise<ChannelDelivery> | undefined;
  /** Serializes changes of settings. */
  #last: Promise<void> = Promise.resolve();

  constructor(host: ProjectChannelsOptions) {
    this.#host = host;
  }

  /** Sends the project's notices according to its settings. */
  follow(project: Project, { channels, notify }: Config): void {
    if (Object.keys(channels).length === 0 && !this.#delivery) return;
    const { onNote } = this.#host;
    this.#last = this.#last
      .then(async () => (await this.#started()).attach(project, { channels, notify }))
      .catch((error: unknown) => onNote('the channels of a project could not be set up', error));
  }

  async views(project: Project): Promise<ChannelView[]> {
    const { viewChannels } = await import('../channels/view.ts');
    return viewChannels(this.#host.store, project, (await settingsOf(project)).channels);
  }

  /** Sends a test message directly, without the queue. */
  async test(project: Project, name: string): Promise<string | null> {
    const { channels } = await settingsOf(project);
    const config = Object.hasOwn(channels, name) ? channels[name] : undefined;
    if (!config)
      throw new AppError('not_found', `there is no channel "${name}" in ${project.name}`, {
        hint: `Configured: ${Object.keys(channels).join(', ') || 'none; see `channels` in .tidemill/config.yaml'}.`,
      });
    const { testMessage } = await import('../channels/view.ts');
    const channel = await (await this.#open())(config);
    try {
      return await channel.send(testMessage(project, this.#host.clock.now()), new AbortController().signal);
    } finally {
      await channel.close();
    }
  }

  async stop(): Promise<void> {
    await this.#last;
    await (await this.#delivery)?.stop();
  }

  #open(): Promise<OpenChannel> {
    this.#opener ??= import('../channels/open.ts').then(({ createOpenChannel }) =>
      createOpenChannel({ ...this.#host, platform: process.platform, screens: this.screens }),
    );
    return this.#opener;
  }

  #started(): Promise<ChannelDelivery> {
    const { store, clock, reactors, onNote } = this.#host;
    this.#delivery ??= Promise.all([this.#open(), import('../channels/delivery.ts')]).then(
      ([open, { ChannelDelivery }]) => new ChannelDelivery({ store, clock, open, reactors, onNote }),
    );
    return this.#delivery;
  }
}

const settingsOf = async ({ root }: Project): Promise<NotifySettings> => (await loadSettings(root)).config;
