import type { Task } from '@tidemill/contract';
import type { Clock } from '../../packages/daemon/src/ports.ts';
import { isSound } from './files.ts';
import type { SimForge, SimPull } from './forge.ts';
import type { PullInvariants } from './pull-invariants.ts';
import type { Random } from './random.ts';

const MINUTE = 60_000;

/** What others do at the forge: people who review, merge, close and push, and the forge's own merge queue. */
export class ForgePeople {
  readonly #forge: SimForge;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #invariants: PullInvariants;

  constructor(forge: SimForge, clock: Clock, random: Random, invariants: PullInvariants) {
    this.#forge = forge;
    this.#clock = clock;
    this.#random = random;
    this.#invariants = invariants;
  }

  /** One thing that somebody does. */
  act(): void {
    const pulls = this.#forge.pulls.filter(({ state }) => state !== 'merged');
    if (pulls.length === 0) return;
    const pull = this.#random.pick(pulls);
    if (pull.state === 'closed') {
      if (this.#random.chance(0.3)) Object.assign(pull, { state: 'open', closedAt: null });
      return;
    }
    const what = this.#random.int(12);
    if (what < 4) this.#comment(pull);
    if (what === 4) this.#approve(pull);
    if (what === 5 || (what === 6 && this.#forge.setup.settings.merge === 'person')) this.#merge(pull);
    if (what === 7) this.#close(pull);
    if (what === 8) this.#push(pull);
    if (what === 9) this.#setBack(pull);
  }

  /** The forge merges what it was asked to merge, or throws it out of its queue. */
  async machinery(): Promise<void> {
    for (;;) {
      await this.#clock.sleep(2 * MINUTE);
      for (const pull of this.#forge.pulls) this.#advance(pull);
    }
  }

  /** After the storm, people settle what only people can. */
  maintain(waiting: readonly Task[]): void {
    this.#mendTarget();
    for (const pull of this.#forge.pulls.filter(({ state }) => state === 'open')) {
      const head = this.#forge.headOf(pull);
      const { settings } = this.#forge.setup;
      if (this.#invariants.foreign.has(head)) {
        if (!this.#random.chance(0.5) || !this.#merge(pull)) this.#setBack(pull);
        continue;
      }
      this.#approve(pull);
      const isBare = this.#forge.results(head).every(({ name }) => name.startsWith('tidemill/'));
      const isUpToPeople = settings.merge === 'person' || (settings.noChecks === 'wait' && isBare);
      // What breaks the target is not merged. They say so.
      if (isUpToPeople && !this.#merge(pull)) this.#wish(pull);
      if (!isUpToPeople) this.#forge.startChecks(head);
    }
    // A branch that has gone another way is removed by hand, as the task asks for.
    for (const { branch, waiting: why } of waiting)
      if (why?.includes('could not be pushed')) this.#forge.repo.remote.branches.delete(branch);
  }

  #advance(pull: SimPull): void {
    const { queued } = pull;
    if (pull.state !== 'open' || !queued) return;
    const message = `${queued.title}\n\n${queued.message}`;
    if (queued.by === 'forge') {
      if (this.#forge.obstacleOf(pull) === null) this.#forge.land(pull, 'forge', message);
      return;
    }
    if (this.#clock.now() - queued.since < 4 * MINUTE) return;
    const { history, remote } = this.#forge.repo;
    const merged = history.merged(remote.tip!, this.#forge.headOf(pull));
    const isGreen = merged.conflicts.length === 0 && isSound(merged.files);
    if (!isGreen) this.#forge.throwOut(pull, 'FAILED_CHECKS');
    else if (this.#random.chance(0.8)) this.#forge.land(pull, 'queue', message);
    else this.#forge.throwOut(pull, this.#random.pick(['FAILED_CHECKS', 'TIMED_OUT']));
  }

  #comment(pull: SimPull): void {
    const kind = this.#random.pick(['comment', 'line', 'review'] as const);
    const isTrusted = this.#random.chance(0.7);
    this.#forge.say(pull, { kind, isTrusted, isApproval: false }, this.#random.chance(0.8) ? 'wish' : 'LGTM');
  }
  #wish(pull: SimPull): void {
    this.#forge.say(pull, { kind: 'comment', isTrusted: true, isApproval: false }, 'wish');
  }
  #approve(pull: SimPull): void {
    if (pull.isApproved) return;
    this.#forge.say(pull, { kind: 'review', isTrusted: true, isApproval: true }, 'fine with me');
    pull.isApproved = true;
  }
  /** A person merges what looks sound. */
  #merge(pull: SimPull): boolean {
    const { history, remote } = this.#forge.repo;
    const { files, conflicts } = history.merged(remote.tip!, this.#forge.headOf(pull));
    if (conflicts.length > 0 || !isSound(files)) return false;
    this.#forge.land(pull, 'person', 'merged by a person');
    if (this.#random.chance(0.5)) remote.branches.delete(pull.branch);
    return true;
  }
  #close(pull: SimPull): void {
    const lastHead = this.#forge.headOf(pull);
    this.#forge.throwOut(pull, 'MANUAL');
    Object.assign(pull, { state: 'closed', lastHead, closedAt: String(this.#clock.now()) });
  }
  #push(pull: SimPull): void {
    const { history, remote } = this.#forge.repo;
    const head = this.#forge.headOf(pull);
    const text = this.#random.chance(0.2) ? 'bug' : `${this.#random.int(1e6)}`;
    const { id } = history.add(new Map(history.files(head)).set(`foreign-${pull.number}`, text), [head], 'by a person');
    this.#invariants.foreign.add(id);
    remote.branches.set(pull.branch, id);
    this.#forge.pushed(id);
  }
  /** A person removes what a person pushed. */
  #setBack(pull: SimPull): void {
    const { remote } = this.#forge.repo;
    const ours = remote.ours.get(pull.branch);
    if (ours !== undefined) remote.branches.set(pull.branch, ours);
  }
  /** Merges of people and of the forge can break the target. People mend it. */
  #mendTarget(): void {
    const { history, remote } = this.#forge.repo;
    const files = history.files(remote.tip!);
    if (isSound(files)) return;
    const mended = new Map([...files].map(([path, text]) => [path, text.replaceAll(/bug|flood/g, 'mended')]));
    remote.tip = history.add(mended, [remote.tip!], 'mended by a person').id;
  }
}
