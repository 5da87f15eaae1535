import { type StartHolds, sentence } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import { type Environment, EnvironmentError } from '../stages/environment.ts';

/** What keeps work from starting, and what people are told. */
export interface HeldStarts extends StartHolds {
  /** It is found out by itself, without a person. */
  isChecking: boolean;
  texts: string[];
}

export const NO_HOLDS: HeldStarts = { isNew: false, full: [], isChecking: false, texts: [] };
const RETRY_MS = 5_000;

interface Around {
  baseline: Baseline;
  environment: Environment;
  /** How many builders there are. */
  builders(): number;
  wake(): void;
  stopped: AbortSignal;
}

/**
 * Nothing is paid for before it is known that its result could land, and that somebody can look at it:
 *
 *   start ──▶ the target passes its gates? ──yes──▶ tasks begin ──▶ enough results wait for a person: hold
 *                 └──no, or no gate tests anything──▶ hold, except tasks that repair the target
 */
export class StartGuard {
  readonly #deps: EngineDeps;
  readonly #around: Around;
  #isChecked = false;
  /** Why the target could not be checked. */
  #trouble: string | null = null;
  #checking: Promise<void> = Promise.resolve();

  constructor(deps: EngineDeps, around: Around) {
    this.#deps = deps;
    this.#around = around;
  }

  /** Runs the gates on the target, before the first task. */
  begin(): void {
    if (this.#deps.starts) this.#checking = this.#check();
  }

  /** After a change of the settings: a target that failed may pass now. */
  settingsChanged(): void {
    if (this.#isChecked && this.#around.baseline.red.length > 0) this.#around.baseline.lookSoon();
  }

  /** Settles when no check is in progress. */
  settled(): Promise<void> {
    return this.#checking;
  }

  async look(): Promise<HeldStarts> {
    const { starts } = this.#deps;
    if (!starts) return NO_HOLDS;
    if (starts.untested !== null) return this.#held(false, [capitalised(sentence(starts.untested))]);
    if (this.#trouble !== null) return this.#held(false, [this.#troubleText(this.#trouble)]);
    if (!this.#isChecked) return this.#held(true, [this.#checkText()]);
    const red = await this.#around.baseline.stillRed();
    const { target } = this.#deps.project.rules;
    const names = red.map(({ gate }) => gate).join(', ');
    const fails = `${target} itself fails ${names}, so no new task starts. Repair ${target}, or add a repair task: tidemill inbox shows how.`;
    if (red.length > 0) return this.#held(this.#around.baseline.isLooking, [fails]);
    return this.#crowded(starts.waiting ?? 2 * Math.max(1, this.#around.builders()));
  }

  #held(isChecking: boolean, texts: string[]): HeldStarts {
    return { isNew: true, full: [], isChecking, texts };
  }

  #checkText(): string {
    return `The gates run on ${this.#deps.project.rules.target} before the first task starts.`;
  }

  #troubleText(why: string): string {
    const [first = ''] = why.split('\n');
    return `${this.#deps.project.rules.target} could not be checked, so no new task starts: ${first}`;
  }

  /** Counts what waits in stages of people, and what is being made for them. */
  async #crowded(most: number): Promise<HeldStarts> {
    const { store, project } = this.#deps;
    const crowded: [stage: string, count: number][] = [];
    for (const [stage, before] of peopleStages(this.#deps)) {
      const waiting = await store.tasks({ projectId: project.id, stages: [stage], limit: most });
      const leased = (await store.leased(project.id)).filter((task) => before.includes(task.stage));
      if (waiting.length + leased.length >= most) crowded.push([stage, waiting.length]);
    }
    if (crowded.length === 0) return NO_HOLDS;
    const shown = crowded.filter(([, count]) => count > 0);
    const texts = shown.map(
      ([stage, count]) =>
        `${count} ${count === 1 ? 'task waits' : 'tasks wait'} for you in ${stage}, so nothing more is made for it. The limit is ${most} (limits.waiting).`,
    );
    return { isNew: false, full: crowded.map(([stage]) => stage), isChecking: false, texts };
  }

  async #check(): Promise<void> {
    const { baseline, wake, stopped } = this.#around;
    while (!stopped.aborted) {
      try {
        await baseline.lookFirst();
        this.#isChecked = true;
        this.#trouble = null;
        return wake();
      } catch (error) {
        if (stopped.aborted) return;
        const waitMs = await this.#report(error);
        wake();
        await this.#deps.clock.sleep(waitMs, stopped);
      }
    }
  }

  async #report(error: unknown): Promise<number> {
    const message = error instanceof Error ? error.message : String(error);
    const isNews = this.#trouble !== message;
    this.#trouble = message;
    if (error instanceof EnvironmentError) return this.#around.environment.report(error);
    if (isNews) this.#deps.onNote('the gates could not be run on the target', error);
    return RETRY_MS;
  }
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The stages where people decide, each with the stages of agents that lead to it. */
function peopleStages({ project }: EngineDeps): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { stages } of Object.values(project.rules.pipelines))
    for (const [name, stage] of Object.entries(stages)) {
      if (stage.actor !== 'agent') continue;
      for (const next of Object.values(stage.on))
        if (stages[next]?.actor === 'human') found.set(next, [...(found.get(next) ?? []), name]);
    }
  return found;
}
