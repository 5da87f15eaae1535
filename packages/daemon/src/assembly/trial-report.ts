import { type FailureClass, readUsage, sumCount, sumUsd, type Usage } from '@tidemill/contract';
import type { AgentEnd, AgentSink } from '../ports.ts';

export const TRIAL_FILE = 'tidemill-trial.txt';
export const TRIAL_TEXT = 'the mill turns';

/** One checked step. `ok` is null where a missing feature is no failure, such as an agent that reports no cost. */
export interface TrialStep {
  name: 'started' | 'session' | 'tool use' | 'file written' | 'structured result' | 'cost' | 'stopped';
  ok: boolean | null;
  text: string;
}

export interface TrialReport {
  agent: string;
  /** As in the record of its runs. */
  label: string;
  ok: boolean;
  steps: TrialStep[];
  failure: { class: FailureClass; message: string; hint: string } | null;
  usage: Usage;
  durationMs: number;
}

/** Watches one session. */
export class TrialWatch {
  readonly sink: AgentSink;
  readonly usage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
  /** Requests without a reported price. */
  unpriced = 0;
  session: string | null = null;
  tools: string[] = [];
  hasSpoken = false;

  constructor(onOutput: (chunk: string) => void) {
    this.sink = {
      output: (chunk) => {
        this.hasSpoken = true;
        onOutput(chunk);
      },
      usage: (usage, settled = 0) => this.#spend(readUsage(usage), settled),
      progress: () => undefined,
      session: (id) => {
        this.session = id;
      },
      // It was refused before the guards, so it does not count as a tool use.
      denied: () => undefined,
    };
  }

  used(tool: string): void {
    this.tools.push(tool);
  }

  #spend({ inputTokens, outputTokens, costUsd, requests }: Usage, settled: number): void {
    this.usage.inputTokens = sumCount(this.usage.inputTokens, inputTokens);
    this.usage.outputTokens = sumCount(this.usage.outputTokens, outputTokens);
    this.usage.requests = sumCount(this.usage.requests, requests);
    if (costUsd === null) this.unpriced += requests;
    else this.usage.costUsd = sumUsd(this.usage.costUsd ?? 0, costUsd);
    this.unpriced -= settled;
  }
}

interface Ended {
  name: string;
  label: string;
  end: AgentEnd;
  watch: TrialWatch;
  wasStopped: boolean;
  durationMs: number;
  written: string | null;
  /** Processes of the agent that still run. */
  left: string[];
}

export function reportTrial(ended: Ended): TrialReport {
  const { name, label, watch, durationMs } = ended;
  const failure = failureOf(ended);
  const steps = stepsOf(ended);
  return { agent: name, label, ok: failure === null, steps, failure, usage: { ...watch.usage }, durationMs };
}

function stepsOf({ end, watch, written, left }: Ended): TrialStep[] {
  const hasStarted = end.kind === 'result' || watch.hasSpoken || watch.session !== null || watch.usage.requests > 0;
  const isRight = written?.trim() === TRIAL_TEXT;
  const step = (name: TrialStep['name'], ok: boolean | null, text: string): TrialStep => ({ name, ok, text });
  const file = written === null ? `there is no ${TRIAL_FILE}` : `${TRIAL_FILE} has the wrong content`;
  return [
    step('started', hasStarted, hasStarted ? 'yes' : 'there was no sign of it'),
    step('session', watch.session === null ? null : true, watch.session ?? 'not reported'),
    step('tool use', watch.tools.length > 0 ? true : null, toolText(watch.tools)),
    step('file written', isRight, isRight ? TRIAL_FILE : file),
    end.kind === 'result'
      ? step('structured result', end.envelope.outcome === 'pr_ready', resultText(end.envelope))
      : step('structured result', false, 'none'),
    costStep(watch),
    step('stopped', left.length === 0, left.length === 0 ? 'no process is left' : left.join(', ')),
  ];
}

const resultText = ({ outcome, summary }: { outcome: string; summary: string }) =>
  summary === '' ? outcome : `${outcome}: ${summary}`;

function toolText(tools: string[]): string {
  if (tools.length === 0) return 'no guard was called: this agent does not ask for permission, or used no tool';
  const names = [...new Set(tools)].join(', ');
  return `${tools.length === 1 ? '1 tool use' : `${tools.length} tool uses`} checked by the guards: ${names}`;
}

function costStep({ usage, unpriced }: TrialWatch): TrialStep {
  const { inputTokens, outputTokens, requests, costUsd } = usage;
  if (requests === 0 && costUsd === null && inputTokens + outputTokens === 0)
    return { name: 'cost', ok: null, text: 'not reported; each request then counts as 0.50 USD in the budget' };
  const tokens = `${inputTokens} tokens in, ${outputTokens} out, in ${requests === 1 ? 'one request' : `${requests} requests`}`;
  const money = costUsd === null ? 'no price reported' : `${costUsd.toFixed(4)} USD`;
  const rest = unpriced > 0 && costUsd !== null ? `; ${unpriced} without a price` : '';
  return { name: 'cost', ok: costUsd === null ? null : true, text: `${money}; ${tokens}${rest}` };
}

function failureOf({ end, written, left, wasStopped }: Ended): TrialReport['failure'] {
  const failed = (failure: FailureClass, message: string, hint = HINTS[failure]) => ({ class: failure, message, hint });
  if (wasStopped) return failed('crash', 'the trial was stopped before the agent finished', '');
  if (end.kind === 'failed') return failed(end.failure, end.message);
  const { outcome } = end.envelope;
  if (outcome !== 'pr_ready') return failed('agent_reported', `the agent ended with ${resultText(end.envelope)}`);
  if (written === null) return failed('validation', `the agent says it is done, but there is no ${TRIAL_FILE}`);
  if (written.trim() !== TRIAL_TEXT)
    return failed(
      'validation',
      `the agent says it is done, but ${TRIAL_FILE} says ${JSON.stringify(written.slice(0, 80))}`,
    );
  if (left.length > 0)
    return failed('unknown', `processes of the agent are still running: ${left.join(', ')}`, HINTS.timeout);
  return null;
}

const VENDOR_LATER = 'This is a problem of the vendor: try again later. Runs wait for it automatically.';
const OWN_WORDS = 'Run it again without --json to see the agent’s output.';

/** What a person can do about it. */
const HINTS: Record<FailureClass, string> = {
  auth: 'Log in with the agent’s own program, or set its key (such as ANTHROPIC_API_KEY) where Tidemill is started; `pass` in the agent’s entry hands on further variables.',
  credit: 'Top up the account, or give the entry a `fallback`.',
  rate_limit: VENDOR_LATER,
  overloaded: VENDOR_LATER,
  network: 'Check the connection, HTTPS_PROXY, and the base URL the agent is given.',
  spawn: '`tidemill agents` shows what is installed and how to install the rest.',
  timeout: 'It did not finish. Look at its last output. A smaller or faster `model` may help.',
  no_result: 'It ended without a result. docs/agents.md, "The command agent", shows what one looks like.',
  invalid_result: 'docs/agents.md, "The command agent", shows what a result looks like.',
  agent_reported: OWN_WORDS,
  validation: 'It may not be allowed to write here: see its output, and `writable` and `sandbox` in the settings.',
  unverified_gate: OWN_WORDS,
  no_progress: OWN_WORDS,
  crash: 'Start the agent’s own program by hand to see whether it works at all.',
  context_too_long: 'Choose a model with a larger context.',
  refused: 'The model refused: choose another one.',
  turn_limit: 'It needed too many turns for one small file: choose another model.',
  budget_limit: 'Raise the limit in the agent’s own settings.',
  workspace: OWN_WORDS,
  unknown: OWN_WORDS,
};
