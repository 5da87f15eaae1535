import { AppError, ENGINE, type PromptChange, promptChangeRef, REACTORS } from '@tidemill/contract';
import { promptTrialOf, shareOf } from '@tidemill/core';
import type { PromptFiles, Reactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { applyPrompt, builtSince, rollBackPrompt } from '../learning/prompt-changes.ts';

const EVERY_MS = 600_000;
/** With fewer runs nothing is certain. */
const LEAST_RUNS = 10;
const BUILDER = '.tidemill/agents/implement.md';

/**
 * Follows proposed prompts: what their replay showed, whether they may be applied without a person, and whether an
 * applied one still pays. One that does not is rolled back.
 */
export class PromptWatch implements Reactor {
  readonly name = 'prompt-changes';
  readonly projectId: string;
  readonly on = REACTORS['prompt-changes'].on;
  readonly everyMs = EVERY_MS;
  readonly #deps: EngineDeps;
  readonly #files: PromptFiles;

  constructor(deps: EngineDeps, files: PromptFiles) {
    this.#deps = deps;
    this.#files = files;
    this.projectId = deps.project.id;
  }

  async handle(): Promise<void> {
    const { store } = this.#deps;
    const open = await store.records({ noun: 'prompt_change', projectId: this.projectId, isOpen: true });
    for (const change of open)
      try {
        if (change.status === 'applied') await this.#check(change);
        else await this.#judge(change);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        this.#deps.onNote(`${promptChangeRef(change.number)}: ${error.message}`);
      }
  }

  async #judge(change: PromptChange): Promise<void> {
    const { store, project } = this.#deps;
    const replay = change.replayId === null ? null : await store.record('replay', change.replayId);
    const trial = change.trial ?? (replay && replay.endedAt !== null ? promptTrialOf(replay) : null);
    if (!trial) return;
    const { projectId } = this;
    await store.execute({ type: 'prompt_change.judge', projectId, promptChangeId: change.id, trial });
    if (trial.verdict !== 'gain' || !project.rules.learning?.promotion?.applyPrompts) return;
    const sources = { store, project, files: this.#files };
    await applyPrompt(sources, { ...change, trial }, `a replay shows a gain: ${trial.why}`, ENGINE);
  }

  async #check(change: PromptChange): Promise<void> {
    const { store, project } = this.#deps;
    const { baseline, decidedAt } = change;
    if (change.file !== BUILDER || !baseline || baseline.total < LEAST_RUNS || decidedAt === null) return;
    const since = await builtSince({ store, project }, decidedAt);
    const now = shareOf(since.good, since.total);
    const before = baseline.good / baseline.total;
    if (since.total < LEAST_RUNS || now === null || now.high >= before) return;
    const percent = (share: number) => `${Math.round(share * 100)} %`;
    const why = `${percent(now.value)} of ${since.total} runs passed at the first try, before it ${percent(before)}`;
    await rollBackPrompt({ store, project, files: this.#files }, change, why, ENGINE);
  }
}
