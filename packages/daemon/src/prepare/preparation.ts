import { createHash } from 'node:crypto';
import path from 'node:path';
import type { CleanCheckout, Preparation, PreparationRequest, Prepared, Workspace } from '../ports.ts';
import { copyIncluded, type IncludeOptions } from './include.ts';
import { Layers } from './layers.ts';
import { runSteps, type StepFailure, type StepsOptions } from './steps.ts';

export interface PreparationOptions extends StepsOptions, Pick<IncludeOptions, 'root' | 'onNote'> {
  include: string[];
  /** The project's own data folder. */
  dataDir: string;
  workspace: Pick<Workspace, 'checkOut' | 'filesAt' | 'targetCommit' | 'ignoredInCheckout'>;
}

const READY: Prepared = { kind: 'ready' };

/** The folder to prepare. */
interface Spot {
  name: string;
  path: string;
  commit: string;
  /** The target's commit that the work is based on. */
  base?: string;
}

/**
 * Runs `prepare` once per content of its input files, in a clean checkout, and copies the result to all folders that
 * need it.
 *
 *   key of the commit ──known──▶ copy (or what is there already)
 *         └──new──▶ steps in a clean checkout ──▶ ignored files become a layer ──▶ copy
 *                                                   └─ bound to its place: the steps run in each folder instead
 */
export function createPreparation(options: PreparationOptions): Preparation {
  const maker = new Maker(options);
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
    worktree: ({ path: folder, tip, base }, request) =>
      prepare({ name: path.basename(folder), path: folder, commit: tip, base }, request),
    checkout: (checkout, request) => {
      const { name, path: folder, commit } = checkout;
      return prepare({ name, path: folder, commit, base: request.base }, request, checkout);
    },
    settled: () => maker.settled(),
  };
}

class Maker {
  readonly #options: PreparationOptions;
  readonly #layers: Layers;
  /** Layers in progress, by key. Other requests for the same key wait. */
  readonly #making = new Map<string, Promise<StepFailure | null>>();

  constructor(options: PreparationOptions) {
    this.#options = options;
    this.#layers = new Layers(path.join(options.dataDir, 'prepared'));
  }

  async provide(spot: Spot, request: PreparationRequest, checkout?: CleanCheckout): Promise<StepFailure | null> {
    if (this.#options.steps.length === 0) return null;
    const key = await this.#keyOf(spot.commit);
    const failure = await this.#ensure(key, spot, request);
    if (failure) return failure;
    const layer = await this.#layers.find(key);
    if (!layer) return { text: 'The prepared files are missing from the data folder.', isEnvironment: true };
    const has = (await this.#layers.has(spot.name, spot.path)) === key;
    // An agent may change its own copy. Changes by a gate must not affect the next proof.
    const isFine = has && (!checkout || (await this.#layers.repair(key, layer, spot.name, spot.path)));
    if (!isFine && layer.isMovable) await this.#layers.place(key, layer, spot.name, spot.path);
    else if (!isFine) {
      await this.#layers.clear(spot.name, spot.path);
      const { isTrusted } = await this.#sourceOf(key, spot);
      const trouble = await runSteps(this.#options, spot.path, isTrusted, request);
      if (trouble) return { ...trouble, isEnvironment: trouble.isEnvironment || isTrusted };
      await this.#layers.note(spot.name, key, layer.paths);
      checkout?.keep(layer.paths);
      // A step may have changed tracked files, but a proof needs the exact tree.
      await checkout?.reset();
    }
    checkout?.keep(layer.paths);
    return null;
  }

  settled(): Promise<void> {
    return this.#layers.settled();
  }

  /** Makes sure that the layer of the key exists. */
  async #ensure(key: string, spot: Spot, request: PreparationRequest): Promise<StepFailure | null> {
    while (!(await this.#layers.find(key))) {
      const known = this.#making.get(key);
      if (!known) {
        const making = this.#makeLayer(key, spot, request).finally(() => this.#making.delete(key));
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

  async #makeLayer(key: string, spot: Spot, request: PreparationRequest): Promise<StepFailure | null> {
    const source = await this.#sourceOf(key, spot);
    const checkout = await this.#options.workspace.checkOut(source.commit);
    try {
      // Files from the steps of another key may be wrong or incomplete.
      checkout.keep([]);
      await checkout.reset();
      const failure = await runSteps(this.#options, checkout.path, source.isTrusted, request);
      if (failure) return { ...failure, isEnvironment: failure.isEnvironment || source.isTrusted };
      await this.#layers.add(key, checkout.path, await checkout.ignored());
      return null;
    } finally {
      await checkout.close();
    }
  }

  /**
   * If the input files equal those of the target, now or at the start of the work, the target itself is prepared. Then
   * no other part of a change affects the shared result, and the change is not the cause of a failure.
   */
  async #sourceOf(key: string, { commit, base }: Spot): Promise<{ commit: string; isTrusted: boolean }> {
    const target = await this.#options.workspace.targetCommit();
    if ((await this.#keyOf(target)) === key) return { commit: target, isTrusted: true };
    const isUnchanged = base !== undefined && (await this.#keyOf(base)) === key;
    return isUnchanged ? { commit: base, isTrusted: true } : { commit, isTrusted: false };
  }

  async #keyOf(commit: string): Promise<string> {
    const { steps, workspace } = this.#options;
    const files = await workspace.filesAt(
      commit,
      steps.flatMap((step) => step.files),
    );
    const about = [1, process.platform, process.arch, process.version, steps, files];
    return createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 32);
  }
}
