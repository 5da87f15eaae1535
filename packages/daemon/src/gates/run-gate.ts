import { randomUUID } from 'node:crypto';
import { elapsed, type GateConfig, type GateStatus } from '@tidemill/contract';
import type { GateReport, GateRequest } from '../ports.ts';
import { type ChildEnd, type ChildHost, startChild } from '../process/child.ts';
import { passedOn } from '../process/environment.ts';
import { CONTAINER_SOCKETS, sandboxStatus } from '../process/sandbox.ts';
import { readCounts } from './counts.ts';
import { excerptOf, plainText } from './excerpt.ts';
import { type GateLog, openGateLog } from './gate-log.ts';

export interface GatesOptions {
  config: GateConfig[];
  /** The hash of each gate's settings, for its receipts. */
  hashes?: Record<string, string>;
  host: ChildHost;
  /** Logs are kept here as `<sha256>.log`. */
  logDir: string;
}

/** A gate whose command has ended. Its verdict needs to know which files changed. */
export interface EndedGate {
  gate: GateConfig;
  ended: ChildEnd;
  durationMs: number;
  log: GateLog;
}

/** Runs the command to its end. Rejects with the signal's reason when it was stopped, and leaves no log then. */
export async function runCommand(
  { host, logDir }: GatesOptions,
  gate: GateConfig,
  { path, signal, control, watch }: GateRequest,
): Promise<EndedGate> {
  const startedAt = performance.now();
  const log = await openGateLog(logDir);
  const running = watch?.begin(gate.timeout);
  try {
    const child = startChild({
      host,
      runId: `gate_${randomUUID()}`,
      command: ['sh', '-c', gate.run],
      cwd: path,
      env: { CI: '1', ...passedOn(gate.pass), ...gate.env },
      // Go refuses to build without a place for its cache, and the home folder is read-only in there.
      sandboxEnv: { GOCACHE: '/tmp/go-build' },
      network: gate.network,
      networkSettings: gate.network,
      // Containers give network access too, and some tests need them.
      writable: gate.network ? CONTAINER_SOCKETS : [],
      timeoutMs: gate.timeout,
      signal,
      control,
      onOutput: (chunk) => {
        running?.output();
        return log.write(chunk);
      },
    });
    const ended = await child.end;
    if (ended.kind === 'stopped') throw signal.reason;
    return { gate, ended, durationMs: Math.round(performance.now() - startedAt), log };
  } catch (error) {
    await log.discard();
    throw error;
  } finally {
    running?.end();
  }
}

/** The verdict and the receipt. `changed`: the files that differ from the tree after the gate. */
export async function reportOf(
  { host, hashes = {} }: GatesOptions,
  { gate, ended, durationMs, log }: EndedGate,
  { tree, again = [] }: GateRequest,
  changed: string[],
): Promise<GateReport> {
  try {
    const verdict = judge(ended, gate, gate.fixes ? [] : changed);
    if (verdict.note) await log.write(Buffer.from(`\n[${verdict.note}]\n`));
    const { hash, end } = await log.keep();
    const text = plainText(end);
    return {
      receipt: {
        gate: gate.name,
        command: gate.run,
        tree,
        status: verdict.status,
        exitCode: ended.kind === 'exited' ? ended.exitCode : null,
        durationMs,
        counts: readCounts(text),
        logHash: hash,
        level: gate.level,
        environment: await environmentOf(host, gate),
        config: hashes[gate.name] ?? '',
        attempt: again.includes(gate.name) ? 2 : 1,
      },
      excerpt: excerptOf(`It ${verdict.says}.`, text),
      fixed: gate.fixes && verdict.status === 'pass' ? changed : [],
    };
  } catch (error) {
    await log.discard();
    throw error;
  }
}

async function environmentOf({ sandbox }: ChildHost, { network }: GateConfig): Promise<string> {
  const isSandboxed = sandbox === 'auto' && (await sandboxStatus()).available;
  const walls = isSandboxed ? `sandboxed, ${network ? 'with network' : 'no network'}` : 'not sandboxed';
  return `${process.platform} ${process.arch}, ${walls}`;
}

const MOST_NAMED = 20;

/**
 * Only exit code 0 is a pass, and only if the files still match the tree. A check that could not run is `unverified`,
 * which is neither a pass nor a failure.
 */
function judge(
  ended: ChildEnd,
  gate: GateConfig,
  changed: string[],
): { status: GateStatus; says: string; note: string } {
  switch (ended.kind) {
    case 'unstartable':
      return { status: 'unverified', says: 'could not be started', note: ended.message };
    case 'timeout':
    case 'stopped': {
      const limit = gate.timeout < 60_000 ? `${gate.timeout / 1000} s` : elapsed(gate.timeout);
      const says = `exceeded its own time limit: it timed out after ${limit}`;
      return { status: 'fail', says, note: `${says} and was killed` };
    }
    case 'exited': {
      const { exitCode, signal } = ended;
      if (exitCode === 0 && changed.length > 0) {
        const names = changed.slice(0, MOST_NAMED).join(', ');
        const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : '';
        const says = `changed files, and a gate must leave them as they are: ${names}${more}`;
        const note = `${says}. A gate that repairs files is declared with fixes: true; files that it only makes belong into .gitignore`;
        return { status: 'fail', says, note };
      }
      if (exitCode === 0) return { status: 'pass', says: 'passed', note: '' };
      if (exitCode === 137 || signal === 'SIGKILL')
        return { status: 'unverified', says: 'was killed; the machine may be short of memory', note: '' };
      if (exitCode === 127) return { status: 'unverified', says: 'needs a program that is not installed', note: '' };
      if (exitCode === 126) return { status: 'unverified', says: 'names a program that cannot be run', note: '' };
      return {
        status: 'fail',
        says: signal ? `was killed by ${signal}` : `failed with exit code ${exitCode}`,
        note: '',
      };
    }
  }
}
