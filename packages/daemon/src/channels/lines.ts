import type { Notification } from '@tidemill/contract';
import type { Channel, ChannelAnswer, HearAnswer } from '../ports.ts';
import { ChannelError } from './channel-error.ts';
import type { DeliveryDeps } from './delivery.ts';
import { takeAnswer } from './incoming-answer.ts';
import { inOrder, type Lane } from './lane.ts';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15 * 60_000;
/** After listening this long without an error, the count of errors restarts. */
const STEADY_MS = 60_000;

/** An open channel and the lanes that use it. Projects with the same settings for a channel share it. */
interface Opening {
  channel: Promise<Channel>;
  line: string | null;
  lanes: Set<Lane>;
  closed: AbortController;
}

export class Lines {
  readonly #deps: DeliveryDeps;
  readonly #openings = new Map<string, Opening>();
  readonly #stopped: AbortSignal;
  readonly #onError: (lane: Lane, error: ChannelError) => Promise<void>;
  readonly #listening = new Set<Promise<void>>();

  constructor(deps: DeliveryDeps, stopped: AbortSignal, onError: (lane: Lane, error: ChannelError) => Promise<void>) {
    this.#deps = deps;
    this.#stopped = stopped;
    this.#onError = onError;
  }

  /** Replaces the project's lanes. Closes channels that no project uses any more. */
  connect(projectId: string, lanes: Lane[]): void {
    for (const { lanes: users } of this.#openings.values())
      for (const lane of users) if (lane.project.id === projectId) users.delete(lane);
    for (const lane of lanes) this.#openingFor(lane);
    for (const [key, opening] of this.#openings) if (opening.lanes.size === 0) void this.#drop(key, opening);
  }

  channelOf(lane: Lane): Promise<Channel> {
    return this.#openingFor(lane).channel;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#openings].map(([key, opening]) => this.#drop(key, opening)));
    await Promise.all(this.#listening);
  }

  #openingFor(lane: Lane): Opening {
    const key = JSON.stringify(lane.config);
    const known = this.#openings.get(key);
    if (known) {
      known.lanes.add(lane);
      return known;
    }
    const channel = this.#deps.open(lane.config);
    const opening: Opening = { channel, line: null, lanes: new Set([lane]), closed: new AbortController() };
    this.#openings.set(key, opening);
    channel.then(
      (opened) => {
        opening.line = opened.line;
      },
      // The sender gets the error; the next send opens the channel again.
      () => this.#openings.get(key) === opening && this.#openings.delete(key),
    );
    const listening = this.#listen(opening).finally(() => this.#listening.delete(listening));
    this.#listening.add(listening);
    return opening;
  }

  async #drop(key: string, { channel, closed }: Opening): Promise<void> {
    this.#openings.delete(key);
    closed.abort();
    try {
      await (await channel).close();
    } catch (error) {
      this.#deps.onNote('a channel could not be closed', error);
    }
  }

  async #listen(opening: Opening): Promise<void> {
    const { clock, onNote } = this.#deps;
    const signal = AbortSignal.any([this.#stopped, opening.closed.signal]);
    const channel = await opening.channel.catch((error: unknown) => this.#tell(opening, error));
    if (!channel?.listen) return;
    const onAnswer: HearAnswer = (answer) =>
      this.#receive(channel.line, answer).catch((error: unknown) => {
        onNote('an answer from a channel could not be saved', error);
        return { isTaken: false, text: 'The answer was not saved because of an error. Please try again later.' };
      });
    for (let failures = 0; !signal.aborted; failures += 1) {
      const since = clock.now();
      try {
        await channel.listen(onAnswer, signal);
      } catch (error) {
        if (signal.aborted) return;
        await this.#tell(opening, error);
        if (clock.now() - since >= STEADY_MS) failures = 0;
        const isDenied = error instanceof ChannelError && error.kind === 'denied';
        const wait = isDenied
          ? LONGEST_WAIT_MS
          : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 20));
        await clock.sleep(wait, signal);
      }
    }
  }

  async #tell({ lanes }: Opening, error: unknown): Promise<null> {
    if (!(error instanceof ChannelError)) this.#deps.onNote('a channel failed', error);
    else
      for (const lane of lanes)
        await this.#onError(lane, error).catch((cause: unknown) =>
          this.#deps.onNote('the failure of a channel could not be recorded', cause),
        );
    return null;
  }

  async #receive(line: string, answer: ChannelAnswer) {
    const { store } = this.#deps;
    const lanes = [...this.#openings.values()]
      .filter((opening) => opening.line === line)
      .flatMap((each) => [...each.lanes]);
    const isServed = ({ projectId, channel }: Notification) =>
      lanes.some((lane) => lane.project.id === projectId && lane.name === channel);
    const asked =
      'partId' in answer
        ? [await store.record('notification', answer.partId)]
        : await this.#byReference(answer.reference, [...new Set(lanes.map(({ project }) => project.id))]);
    const ours = asked.filter((notification) => notification !== null && isServed(notification)) as Notification[];
    return takeAnswer(store, answer, ours);
  }

  /** A message may be older than this daemon, so its name is looked up in the store. */
  async #byReference(reference: string, projectIds: string[]): Promise<Notification[]> {
    const all = projectIds.map((projectId) => this.#deps.store.records({ noun: 'notification', projectId }));
    const found = (await Promise.all(all)).flat().filter((notification) => notification.reference === reference);
    return found.sort(inOrder);
  }
}
