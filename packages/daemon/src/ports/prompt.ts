import type { HilConfig, Job, Mode, Task } from '@tidemill/contract';
import type { Deciding } from '@tidemill/core';
import type { Change } from './workspace.ts';

/** What an agent is told, and what its template's head asks for. */
export interface Briefing {
  prompt: string;
  /** An estimate: nobody but the vendor counts exactly. */
  promptTokens: number;
  /** What was left out or cut to keep within the budget of tokens. */
  dropped: string[];
  model: string | null;
  tools: string[] | null;
  maxTurns: number | null;
  timeoutMs: number | null;
}

/** From the templates. */
export interface Prompts {
  render(input: {
    task: Task;
    mode: Mode;
    target: string;
    diff: Change;
    /** Files of the change that decide what gates check. */
    deciding: Deciding[];
    gates: string;
    hilConfig: HilConfig;
  }): Promise<Briefing>;
  /** The prompt of a job: the mode's template with the job's input in it. */
  renderJob(job: Pick<Job, 'mode' | 'input'>): Promise<Briefing>;
}
