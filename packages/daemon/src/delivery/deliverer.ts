import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { AppError, type DeliveryConfig, type EnvironmentConfig, elapsed, withoutSecrets } from '@tidemill/contract';
import type { Deliverer, DeliveryContext, StepEnd, Workflows } from '../ports.ts';
import { type ChildEnd, type ChildHost, startChild } from '../process/child.ts';
import { readablePlaces } from '../process/network-settings.ts';
import { CONTAINER_SOCKETS } from '../process/sandbox.ts';
import { openStepLog, type StepLog } from './delivery-log.ts';
import { askUrl, tryHealth } from './health.ts';
import { hider, variablesOf } from './secrets.ts';

export interface DelivererOptions {
  config: DeliveryConfig;
  host: ChildHost;
  logOf(deliveryId: string): string;
  /** The daemon's environment. */
  env: NodeJS.ProcessEnv;
  /** Without it, an environment with a workflow cannot be delivered to. */
  workflows?: Workflows;
}

const LONGEST_NOTE = 500;
const NO_WORKFLOWS = 'it is delivered to by a GitHub workflow, and no connection to GitHub is configured';

/** Runs the commands and checks of environments like gates: as children with a small environment, sandboxed where possible. */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const find = (name: string): EnvironmentConfig => {
    const found = options.config.environments.find((each) => each.name === name);
    if (found) return found;
    throw new AppError('not_found', `the environment ${name} is no longer in the settings`);
  };
  const withLog = async (
    { deliveryId, environment }: DeliveryContext,
    title: string,
    work: (log: StepLog, setup: EnvironmentConfig) => Promise<StepEnd>,
  ): Promise<StepEnd> => {
    const setup = find(environment);
    const hide = hider(variablesOf(setup, options.env).secrets);
    const log = await openStepLog(options.logOf(deliveryId), hide);
    const written = async (): Promise<StepEnd> => {
      await log.line(`$ ${title}`);
      const end = await work(log, setup);
      const note = hide(end.note).slice(0, LONGEST_NOTE);
      await log.line(`[${note}]\n`);
      return { ...end, note };
    };
    const [outcome] = await Promise.allSettled([written()]);
    const fault = await log.close();
    if (outcome.status === 'rejected') throw outcome.reason;
    if (fault === null) return outcome.value;
    const note = `${outcome.value.note}; some of its output could not be saved: ${fault}`;
    return { ...outcome.value, note: note.slice(0, LONGEST_NOTE) };
  };
  return {
    commands: (environment, kind) => {
      const { run, rollback } = find(environment);
      return kind === 'rollback' && rollback.length > 0 ? rollback : run;
    },
    healthOf(environment) {
      const { health } = find(environment);
      return health ? withoutSecrets(health.run ?? `${health.url} answers ${health.status}`) : null;
    },
    workflowOf: (environment) => find(environment).workflow ?? null,
    obstacle(environment) {
      const setup = find(environment);
      if (setup.workflow !== undefined && !options.workflows) return NO_WORKFLOWS;
      const { missing } = variablesOf(setup, options.env);
      if (missing.length === 0) return null;
      const are = missing.length === 1 ? 'is' : 'are';
      return `${missing.map((name) => `$${name}`).join(', ')} ${are} not set where the daemon was started`;
    },
    run: (context, command, signal) =>
      withLog(context, command, async (log, setup) => {
        const end = await runOnce(options, setup, context, { command, timeoutMs: setup.timeout, signal, log });
        return endOf(end, setup.timeout);
      }),
    dispatch: (context, signal) =>
      withLog(context, `workflow ${find(context.environment).workflow}`, async (log, { workflow = '', timeout }) => {
        const { workflows } = options;
        if (!workflows) return { result: 'not_started', note: NO_WORKFLOWS };
        const { environment, commit, deliveryId, attempt, isResumed, down } = context;
        const about = { workflow, environment, commit, marker: `${deliveryId}-${attempt}`, isResumed };
        const limit = AbortSignal.timeout(timeout);
        const ends = { signal: AbortSignal.any([signal, limit]), down };
        const end = await workflows.run(about, ends, (line) => void log.line(line));
        if (!limit.aborted || signal.aborted) return end;
        if (end.result === 'not_started')
          return { ...end, note: `it could not be started within ${limitText(timeout)}` };
        return end.result === 'stopped' ? { ...end, result: 'timed_out' } : end;
      }),
    check: (context, signal) =>
      withLog(context, `health check of ${context.environment}`, async (log, setup) => {
        const { health } = setup;
        if (!health) return { result: 'passed', note: 'no health check is configured' };
        const { run: command, url, timeout: timeoutMs } = health;
        const once = async (stop: AbortSignal): Promise<string | null> => {
          if (url !== undefined) return askUrl(url.replaceAll('{commit}', context.commit), health, stop);
          const end = await runOnce(options, setup, context, { command: command!, timeoutMs, signal: stop, log });
          const { result, note } = endOf(end, timeoutMs);
          return result === 'passed' ? null : note;
        };
        return tryHealth(health, { once, say: (line) => log.line(line), signal });
      }),
  };
}

interface OneCommand {
  command: string;
  timeoutMs: number;
  signal: AbortSignal;
  log: StepLog;
}

async function runOnce(
  { host, env }: DelivererOptions,
  setup: EnvironmentConfig,
  { environment, commit, previous, ref, isRollback, path: cwd }: DeliveryContext,
  { command, timeoutMs, signal, log }: OneCommand,
): Promise<ChildEnd> {
  const { network, readable, writable } = setup;
  const child = startChild({
    host,
    runId: `delivery_${randomUUID()}`,
    command: ['sh', '-c', command],
    cwd,
    env: {
      CI: '1',
      ...variablesOf(setup, env).values,
      TIDEMILL_ENVIRONMENT: environment,
      TIDEMILL_COMMIT: commit,
      TIDEMILL_PREVIOUS_COMMIT: previous ?? '',
      TIDEMILL_DELIVERY: ref,
      ...(isRollback ? { TIDEMILL_ROLLBACK: '1' } : {}),
    },
    network,
    networkSettings: network,
    readable: readablePlaces(readable, host.root),
    writable: [...writable.map((folder) => path.resolve(host.root, folder)), ...(network ? CONTAINER_SOCKETS : [])],
    timeoutMs,
    signal,
    onOutput: (chunk) => log.write(chunk),
  });
  return child.end;
}

const limitText = (ms: number) => (ms < 60_000 ? `${ms / 1000} s` : elapsed(ms));

function endOf(end: ChildEnd, limitMs: number): StepEnd {
  switch (end.kind) {
    case 'stopped':
      return { result: 'stopped', note: 'it was stopped' };
    case 'timeout':
      return { result: 'timed_out', note: `it did not end within ${limitText(limitMs)} and was killed` };
    case 'over_limit':
      return { result: 'failed', note: `it ${end.message}` };
    case 'unstartable':
      return { result: 'not_started', note: end.message };
    case 'exited':
      if (end.exitCode === 0) return { result: 'passed', note: 'exit code 0' };
      return { result: 'failed', note: end.signal ? `it was killed by ${end.signal}` : `exit code ${end.exitCode}` };
  }
}
