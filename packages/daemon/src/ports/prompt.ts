import type { HilConfig, Job, Mode, Task } from '@tidemill/contract';
import type { Deciding } from '@tidemill/core';
import type { Change } from './workspace.ts';

/** The prompt of an agent, with the settings from its template's head. */
export interface Briefing {
  prompt: string;
  /** An estimate. Only the vendor can count exactly. */
  promptTokens: number;
  /** Parts that were left out or cut to fit the token limit. */
  dropped: string[];
  model: string | null;
  tools: string[] | null;
  maxTurns: number | null;
  timeoutMs: number | null;
}

/** Renders prompts from the templates. */
export interface Prompts {
  render(input: {
    task: Task;
    mode: Mode;
    target: string;
    diff: Change;
    /** Files of the change that control what gates check. */
    deciding: Deciding[];
    gates: string;
    hilConfig: HilConfig;
  }): Promise<Briefing>;
  /** The prompt of a job: the mode's template with the job's input in it. */
  renderJob(job: Pick<Job, 'mode' | 'input'>): Promise<Briefing>;
}
