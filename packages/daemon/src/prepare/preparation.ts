import { createHash } from 'node:crypto';
import path from 'node:path';
import type { CleanCheckout, Preparation, PreparationRequest, Prepared, RunningStep, Workspace } from '../ports.ts';
import { clonePath } from '../process/clone-path.ts';
import { copyIncluded, type IncludeOptions } from './include.ts';
import { inputsOf, isOfInstaller, prepareChecks } from './inputs.ts';
import { landedKey, taskKey } from './layer-key.ts';
import { Layers } from './layers.ts';
import { PrepareReads } from './reads.ts';
import { runSteps, type StepFailure, type StepsOptions } from './steps.ts';

export interface PreparationOptions extends StepsOptions, Pick<IncludeOptions, 'root' | 'onNote'> {
  include: string[];
  /** The project's own data folder. */
  dataDir: string;
  workspace: Pick<
    Workspace,
    'checkOut' | 'filesAt' | 'changedFiles' | 'targetCommit' | 'isLanded' | 'treeOf' | 'ignoredInCheckout'
  >;
}

const READY: Prepared = { kind: 'ready' };

/** The folder to prepare. */
interface Spot {
  name: string;
  path: string;
  commit: string;
  /** The target's commit that the work is based on. */
  base?: string;
  task?: number;
}

/** The commit that a folder's dependencies are made from. */
interface Source {
  key: string;
  commit: string;
  /** The commit is of the target. Otherwise nobody else gets the result. */
  isLanded: boolean;
}

/**
 * Runs `prepare` once per content of its input files, in a clean checkout, and copies the result to all folders that
 * need it. With the input files of the target, it runs on the target's tree. Otherwise it runs on the work itself, and
 * the result is for this task and this tree only: nothing of a change reaches the proof of another one.
 *
 *   key of the commit ──known──▶ copy (or what is there already)
 *         └──new──▶ steps in a clean checkout ──▶ ignored files become a layer ──▶ copy
 *                                                   └─ bound to its place: the steps run in each folder instead
 */
export function createPreparation(options: PreparationOptions): Preparation {
  const running = new Set<RunningStep>();
  const onStep = (step: string) => {
    const begun = { step, since: Date.now() };
    running.add(begun);
    return () => void running.delete(begun);
  };
  const maker = new Maker({ ...options, onStep });
  const include = {
    root: options.root,
    globs: options.include,
    onNote: options.onNote,
    ignored: (files: string[]) => options.workspace.ignoredInCheckout(files),
  };
  const prepare = async (spot: Spot, request: PreparationRequest, checkout?: CleanCheckout) => {
    const failure = await maker.provide(spot, request, checkout);
    if (failure) return { kind: 'failed' as const, ...failure };
    await copyIncluded(include, spot.path);
    return READY;
  };
  return {
    worktree: ({ path: folder, tip, base, number: task }, request) =>
      prepare({ name: path.basename(folder), path: folder, commit: tip, base, task }, request),
    checkout: (checkout, request) => {
      const { name, path: folder, commit } = checkout;
      return prepare({ name, path: folder, commit, base: request.base, task: request.taskNumber }, request, checkout);
    },
    checks: prepareChecks(options.steps),
    reads: () => maker.reads(),
    get running() {
      // One may run in several folders at once: the first is the one to tell of.
      const steps = [...running];
      return steps.filter(({ step }, at) => steps.findIndex((other) => other.step === step) === at);
    },
    tidy: (isAlive) => maker.tidy(isAlive),
    settled: () => maker.settled(),
  };
}

/** Number of commits whose input files are remembered. */
const MOST_INPUTS = 200;

class Maker {
  readonly #options: PreparationOptions;
  readonly #layers: Layers;
  /** Layers in progress, by key. Other requests for the same key wait. */
  readonly #making = new Map<string, Promise<StepFailure | null>>();
  /** The hash of the input files, by commit. */
  readonly #inputs = new Map<string, Promise<string>>();
  readonly #reads: PrepareReads;

  constructor(options: PreparationOptions) {
    this.#options = options;
    this.#layers = new Layers(path.join(options.dataDir, 'prepared'));
    this.#reads = new PrepareReads(options.dataDir, shortHash(options.steps));
  }

  async provide(spot: Spot, request: PreparationRequest, checkout?: CleanCheckout): Promise<StepFailure | null> {
    if (this.#options.steps.length === 0) return null;
    for (;;) {
      const source = await this.#sourceOf(spot);
      const result = await this.#layers.using(source.key, () => this.#provide(source, spot, request, checkout));
      if (result !== 'learned') return result;
    }
  }

  /** `learned`: the steps were seen to read more files, so that the key is another one. */
  async #provide(
    source: Source,
    spot: Spot,
    request: PreparationRequest,
    checkout: CleanCheckout | undefined,
  ): Promise<StepFailure | null | 'learned'> {
    const { key } = source;
    const known = await this.#reads.known();
    const failure = await this.#ensure(source, request, known);
    if (failure) return failure;
    if ((await this.#reads.known()) !== known) return 'learned';
    const layer = await this.#layers.find(key);
    if (!layer) return { text: 'The prepared files are missing from the data folder.', isEnvironment: true };
    const has = (await this.#layers.has(spot.name, spot.path)) === key;
    // An agent may change its own copy. Changes by a gate must not affect the next proof.
    const isFine = has && (!checkout || (await this.#layers.repair(key, layer, spot.name, spot.path)));
    if (!isFine && layer.isMovable) await this.#layers.place(key, layer, spot.name, spot.path);
    else if (!isFine) {
      await this.#layers.clear(spot.name, spot.path);
      const trouble = await this.#makeThere(source, spot, request, checkout);
      if (trouble) return trouble;
      await this.#layers.note(spot.name, key, layer.paths, spot.path);
      checkout?.keep(layer.paths);
      // A step may have changed tracked files, but a proof needs the exact tree.
      await checkout?.reset();
    }
    checkout?.keep(layer.paths);
    return null;
  }

  /** Runs the steps in the folder itself. A checkout shows the source meanwhile; an agent's worktree stays as it is. */
  async #makeThere(
    { commit, isLanded }: Source,
    spot: Spot,
    request: PreparationRequest,
    checkout: CleanCheckout | undefined,
  ): Promise<StepFailure | null> {
    if (checkout && commit !== spot.commit) {
      checkout.keep([]);
      await checkout.showInstead(commit);
    }
    const failure = await runSteps(this.#options, spot.path, isLanded && checkout !== undefined, request);
    return failure && { ...failure, isEnvironment: failure.isEnvironment || isLanded };
  }

  async reads(): Promise<ReadonlySet<string>> {
    const known = [...((await this.#reads.known()) ?? [])];
    return new Set(known.filter((file) => !isOfInstaller(this.#options.steps, file)));
  }

  settled(): Promise<void> {
    return this.#layers.settled();
  }

  tidy(isAlive: (task: number) => boolean): Promise<void> {
    return this.#layers.tidy(isAlive);
  }

  /** Makes sure that the layer of the key exists, or that more is known about what the steps read. */
  async #ensure(
    source: Source,
    request: PreparationRequest,
    read: ReadonlySet<string> | null,
  ): Promise<StepFailure | null> {
    const { key } = source;
    while ((await this.#reads.known()) === read && !(await this.#layers.find(key))) {
      const known = this.#making.get(key);
      if (!known) {
        const making = this.#makeLayer(source, request).finally(() => this.#making.delete(key));
        this.#making.set(key, making);
        return making;
      }
      // Bounded by the time limits of its steps.
      const waiting = request.watch?.begin(Number.POSITIVE_INFINITY);
      // The other request may have been stopped. That does not concern this one.
      const failure = await known.catch(() => undefined).finally(() => waiting?.end());
      if (failure) return failure;
      request.signal.throwIfAborted();
    }
    return null;
  }

  async #makeLayer({ key, commit, isLanded }: Source, request: PreparationRequest): Promise<StepFailure | null> {
    const checkout = await this.#options.workspace.checkOut(commit);
    try {
      // Files from the steps of another key may be wrong or incomplete.
      checkout.keep([]);
      await checkout.reset();
      const read: string[] = [];
      // Only the target is observed: the key of a task's layer covers its whole tree.
      const onReads = isLanded ? (files: string[]) => read.push(...files) : undefined;
      const failure = await runSteps(this.#options, checkout.path, isLanded, request, onReads);
      if (failure) return { ...failure, isEnvironment: failure.isEnvironment || isLanded };
      const made = isLanded ? await this.#learn(commit, read) : key;
      if (made !== key && (await this.#layers.find(made))) return null;
      const shownAt = await clonePath(this.#options.host, checkout.path);
      await this.#layers.add(made, checkout.path, await checkout.ignored(), shownAt);
      return null;
    } finally {
      await checkout.close();
    }
  }

  /** The key of the landed commit, after its steps were seen to read these files. */
  async #learn(commit: string, read: string[]): Promise<string> {
    const tracked = new Set((await this.#options.workspace.filesAt(commit, 'all')).map(([file]) => file));
    if (await this.#reads.note(read.filter((file) => tracked.has(file)))) this.#inputs.clear();
    return landedKey(await this.#inputsOf(commit));
  }

  /**
   * If the input files equal those of the target, now or at the start of the work, the target itself is prepared. Then
   * no other part of a change affects the shared result, and the change is not the cause of a failure.
   */
  async #sourceOf({ commit, base, task }: Spot): Promise<Source> {
    const { workspace } = this.#options;
    const inputs = await this.#inputsOf(commit);
    const landed = { key: landedKey(inputs), isLanded: true };
    const target = await workspace.targetCommit();
    if ((await this.#inputsOf(target)) === inputs) return { ...landed, commit: target };
    for (const other of base === undefined || base === commit ? [commit] : [base, commit])
      if ((await this.#inputsOf(other)) === inputs && (await workspace.isLanded(other)))
        return { ...landed, commit: other };
    const key = taskKey(task, shortHash([inputs, await workspace.treeOf(commit)]));
    return { key, commit, isLanded: false };
  }

  #inputsOf(commit: string): Promise<string> {
    const known = this.#inputs.get(commit);
    if (known) return known;
    const { steps, workspace } = this.#options;
    const asked = this.#reads.known().then(async (read) => {
      const files = await inputsOf(steps, workspace, commit, read ?? new Set());
      return shortHash([3, process.platform, process.arch, process.version, steps, files, read !== null]);
    });
    if (this.#inputs.size >= MOST_INPUTS) this.#inputs.clear();
    this.#inputs.set(commit, asked);
    asked.catch(() => this.#inputs.delete(commit));
    return asked;
  }
}

const shortHash = (about: unknown) => createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 32);
