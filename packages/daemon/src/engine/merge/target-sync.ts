import { type AlertKind, INTEGRITY_GATE } from '@tidemill/contract';
import type { Reactor, ReactorCall, RemoteState, RemoteTarget } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';

/** How long a fetch stays fresh when a worktree is opened. */
const FRESH_MS = 15_000;
/** Pauses after an attempt that did not reach the remote. */
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 10 * 60_000;
/** How often the remote is looked at while nothing lands: somebody may have removed landed work by force. */
const IDLE_LOOK_MS = 10 * 60_000;
/** Pause before a push that others overtook is repeated. */
const AGAIN_MS = 500;
/** How often others may push while what they pushed is taken in. */
const MAX_ROUNDS = 5;

const REFUSED_MS = 60_000;
/** A landing that others overtook is tried again within this time. */
const RETRIED_WITHIN_MS = 2 * 60_000;
/** How long work that landed only here counts as unfinished. After that the remote is down for longer. */
const PUSH_SOON_MS = 60_000;
/** Over when the target and its remote are the same. */
const SETTLED_BY_SAME: AlertKind[] = ['push_failed', 'remote_branch_gone', 'target_diverged'];
const KINDS: AlertKind[] = [...SETTLED_BY_SAME, 'push_refused'];

type Published =
  | { kind: 'go'; isPublished: boolean }
  /** `moved`: somebody else pushed. `waiting`: the remote refuses it. */
  | { kind: 'moved' | 'waiting'; why: string };

/**
 * Keeps the target and its remote together. What others pushed is taken in before work starts and before it lands. What
 * lands is pushed first. While the remote is unreachable, work lands here and is pushed later.
 *
 *   behind ──fast-forward──▶ same        ahead ──push──▶ same
 *   diverged ──merge commit──▶ ahead     rewritten, conflicting ──▶ merging stops, a person is asked
 */
export class TargetSync implements Reactor {
  readonly name = 'remote';
  readonly projectId: string;
  readonly everyMs = 60_000;
  readonly #deps: EngineDeps;
  readonly #baseline: Baseline;
  #looking: Promise<RemoteState> | null = null;
  #state: RemoteState = { kind: 'none' };
  #lookedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  #retryAt = 0;
  /** Something landed here that the remote may not have. */
  #isPending = true;
  /** When something landed here that the remote could not be given at once. */
  #unpublishedSince: number | null = null;
  /** Landings that are tried again by themselves, by task: until when that is expected. */
  readonly #retries = new Map<string, number>();
  #tickIn: ReactorCall['tickIn'] = () => undefined;
  /** The remote refused a push: it is not asked again before that time. */
  #refusal: { text: string; until: number } | null = null;
  /** Alerts that may be open, by kind. An earlier daemon may have raised them. */
  readonly #alerted = new Map<AlertKind, string>(KINDS.map((kind) => [kind, '']));

  constructor(deps: EngineDeps, baseline: Baseline) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#baseline = baseline;
  }

  /** Pushes what could not be pushed when it landed. */
  async handle({ cause, tickIn }: ReactorCall): Promise<void> {
    this.#tickIn = tickIn;
    if (cause === 'tick' && !this.#isPending && this.#deps.clock.now() - this.#lookedAt < IDLE_LOOK_MS) return;
    if (cause === 'events') return;
    // Nothing is pushed to the target any more.
    if (this.#deps.push !== 'target') await this.#accepted();
    await this.takeIn();
    if (this.#state.kind === 'ahead') await this.#pushRest();
  }

  /** Work has landed here or is about to, and the remote will be tried again soon. */
  get isPushing(): boolean {
    const since = this.#unpublishedSince;
    const now = this.#deps.clock.now();
    if (since !== null && now - since < PUSH_SOON_MS) return true;
    return [...this.#retries.values()].some((until) => now < until);
  }

  /** Others overtook the landing. It waits without anybody's help, so the project is not idle. */
  retriesSoon(taskId: string): void {
    this.#retries.set(taskId, this.#deps.clock.now() + RETRIED_WITHIN_MS);
  }

  /** The landing is tried now: its lease says that the project works. */
  retriesNow(taskId: string): void {
    this.#retries.delete(taskId);
  }

  /** Why nobody knows here what others have pushed, or null. */
  get unreachable(): string | null {
    return this.#state.kind === 'unreachable' ? `${this.#state.name} cannot be reached.` : null;
  }

  /** Before a worktree is opened: only a plain fast-forward. Merging looks more closely. */
  async refresh(): Promise<void> {
    const state = await this.#look(FRESH_MS);
    if (state.kind === 'behind') await this.#fastForward(state);
  }

  /** Takes in what others pushed. Returns why nothing may land now, or null. */
  async takeIn(): Promise<string | null> {
    if (this.#refusal && this.#deps.clock.now() < this.#refusal.until) return this.#refusal.text;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const state = await this.#look(0);
      const held = await this.#bringTogether(state);
      if (held !== 'again') return held;
    }
    return null;
  }

  async #bringTogether(state: RemoteState): Promise<string | null | 'again'> {
    switch (state.kind) {
      case 'none':
      case 'new':
      case 'same':
        this.#isPending = false;
        this.#unpublishedSince = null;
        await this.#allIsWell();
        return null;
      case 'unreachable':
        return null;
      case 'gone':
        await this.#alert('remote_branch_gone', goneText(state.name, this.#target));
        return null;
      case 'behind':
        return this.#fastForward(state);
      case 'ahead':
        // It is pushed with what lands next, or when nothing lands.
        this.#isPending = this.#deps.push === 'target';
        return null;
      case 'diverged':
        return this.#join(state);
      case 'rewritten':
        return this.#stop(rewrittenText(state, this.#target));
    }
  }

  /** Pushes a commit that is about to land. */
  async publish(commit: string): Promise<Published> {
    const { kind } = this.#state;
    if (kind === 'none') return { kind: 'go', isPublished: false };
    if (kind === 'unreachable' || kind === 'gone') {
      this.#isPending = true;
      if (kind === 'unreachable') this.#unpublishedSince ??= this.#deps.clock.now();
      return { kind: 'go', isPublished: false };
    }
    const pushed = await this.#deps.workspace.pushTarget(commit);
    if (pushed.kind === 'moved') return { kind: 'moved', why: `${pushed.name} has new commits` };
    if (pushed.kind === 'refused') return { kind: 'waiting', why: await this.#refused(pushed) };
    if (pushed.kind === 'unreachable') {
      this.#unpublishedSince ??= this.#deps.clock.now();
      await this.#unreachable(pushed);
    } else await this.#accepted();
    return { kind: 'go', isPublished: pushed.kind === 'pushed' };
  }

  /** Why nothing lands although nothing is wrong. */
  tooFast(rounds: number): string {
    const name = 'name' in this.#state ? this.#state.name : this.#target;
    return `${name} got new commits ${rounds} times while the gates ran, so what they checked was never the newest. It is tried again. Quicker gates help, fewer pushes, or \`push: branch\``;
  }

  get #target(): string {
    return this.#deps.project.rules.target;
  }

  async #look(maxAgeMs: number): Promise<RemoteState> {
    const now = this.#deps.clock.now();
    // A remote that does not respond would hold up every landing.
    if (this.#state.kind === 'unreachable' && now < this.#retryAt) return this.#state;
    if (now - this.#lookedAt < maxAgeMs) return this.#state;
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #ask(): Promise<RemoteState> {
    const state = await this.#deps.workspace.fetchTarget();
    this.#state = state;
    this.#lookedAt = this.#deps.clock.now();
    if (state.kind === 'unreachable') await this.#unreachable(state);
    else this.#pauseMs = 0;
    return state;
  }

  async #fastForward({ name, commit, local }: RemoteTarget & { local: string }): Promise<string | null | 'again'> {
    const landing = await this.#deps.workspace.land(commit, local);
    if (landing.kind === 'waiting') return `${name} has new commits, and ${landing.why}`;
    return 'again';
  }

  /** Both have new commits: somebody pushed while this machine was offline, or committed here. */
  async #join(remote: RemoteTarget): Promise<string | null | 'again'> {
    const { workspace } = this.#deps;
    const joined = await workspace.joinRemote(remote);
    if (joined.kind === 'conflict') return this.#stop(conflictText(remote, this.#target, joined.files));
    const landing = await workspace.land(joined.commit, joined.base);
    return landing.kind === 'waiting' ? `${remote.name} has new commits, and ${landing.why}` : 'again';
  }

  /** Commits that landed while the remote was unreachable, or that a person made here. Only what passes is pushed. */
  async #pushRest(): Promise<void> {
    const { workspace, gates, push } = this.#deps;
    // With `branch` others merge and push.
    if (push !== 'target') return;
    const commit = await workspace.targetCommit();
    const names = gates.names.filter((gate) => gate !== INTEGRITY_GATE);
    const red = await this.#baseline.redAmong(commit, names);
    if (red.size > 0) return this.#baseline.alert([...red.values()]);
    const pushed = await workspace.pushTarget(commit);
    if (pushed.kind === 'refused') await this.#refused(pushed);
    if (pushed.kind === 'unreachable') await this.#unreachable(pushed);
    // Others were first: the next tick takes that in.
    if (pushed.kind === 'moved') this.#tickIn(AGAIN_MS);
    if (pushed.kind !== 'pushed') return;
    await this.#accepted();
    await this.takeIn();
  }

  async #unreachable({ name, why }: { name: string; why: string }): Promise<void> {
    this.#state = { kind: 'unreachable', name, why };
    this.#isPending = true;
    this.#pauseMs = Math.min(this.#pauseMs * 2 || FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    this.#retryAt = this.#deps.clock.now() + this.#pauseMs;
    this.#tickIn(this.#pauseMs);
    const text = `${name} cannot be reached: ${why}\nWork continues and lands here. It is pushed automatically when ${name} can be reached. If this needs a login, set up a git credential helper or an ssh agent for the user that runs Tidemill.`;
    await this.#alert('push_failed', text);
  }

  async #refused({ name, why }: { name: string; why: string }): Promise<string> {
    const text = `${name} refuses the push: ${why}\nNothing lands until it accepts pushes. If the branch is protected, set \`push: branch\` to push each task's branch for a pull request, or \`push: never\` to land only here.`;
    this.#refusal = { text, until: this.#deps.clock.now() + REFUSED_MS };
    await this.#alert('push_refused', text);
    return text;
  }

  async #accepted(): Promise<void> {
    this.#refusal = null;
    await this.#resolve('push_refused');
  }

  async #stop(text: string): Promise<string> {
    this.#isPending = true;
    await this.#alert('target_diverged', text);
    return text;
  }

  async #alert(kind: AlertKind, text: string): Promise<void> {
    if (this.#alerted.get(kind) === text) return;
    this.#alerted.set(kind, text);
    const { store, project } = this.#deps;
    const about = { projectId: project.id, taskId: null, subject: '' } as const;
    await store.execute({ type: 'alert.raise', ...about, kind, text: text.slice(0, 4000), severity: 'error' });
  }

  async #allIsWell(): Promise<void> {
    for (const kind of SETTLED_BY_SAME) await this.#resolve(kind);
  }

  async #resolve(kind: AlertKind): Promise<void> {
    if (!this.#alerted.delete(kind)) return;
    await this.#deps.store.execute({ type: 'alert.resolve', projectId: this.projectId, kind, subject: '' });
  }
}

const goneText = (name: string, target: string): string =>
  `The branch ${name} was deleted at the remote. Work continues and lands on ${target} here, and is not pushed. Create the branch again (git push ${name.replace('/', ' ')}), or change \`target\` or \`push\` in the config.`;

const rewrittenText = ({ name, commit }: RemoteTarget, target: string): string =>
  `${name} was rewritten by a forced push: it is at ${commit.slice(0, 12)} and no longer contains commits that it had. Nothing lands and nothing is pushed until ${target} and ${name} have a common history again. ` +
  `Run \`git fetch\`. Then, on ${target}: to keep all commits, run \`git merge ${name}\` and \`git push\`. To do without the removed ones, save the commits that only you have, and run \`git reset --keep ${name}\`.`;

const conflictText = ({ name }: RemoteTarget, target: string, files: string[]): string =>
  `${target} and ${name} both have new commits, and they conflict in ${files.join(', ')}. Nothing lands until they are merged: run \`git fetch\` and \`git merge ${name}\` on ${target}, resolve the conflict and commit.`;
