import { randomUUID } from 'node:crypto';
import { type GateConfig, type GateStatus, INTEGRITY_GATE } from '@tidemill/contract';
import type { GateReport, Gates, Reins, Worktree } from '../ports.ts';
import { type ChildEnd, type ChildHost, startChild } from '../process/child.ts';
import { CONTAINER_SOCKETS } from '../process/sandbox.ts';
import { readCounts } from './counts.ts';
import { excerptOf, plainText } from './excerpt.ts';
import { openGateLog } from './gate-log.ts';
import { integrityProblems } from './integrity.ts';

export interface GatesOptions {
  config: GateConfig[];
  host: ChildHost;
  /** Logs are kept here as `<sha256>.log`. */
  logDir: string;
  env?: Record<string, string>;
}

/**
 * The project's gates. Integrity comes first and needs no process; the others run one after another, all of them even
 * when one fails, so that an agent sees everything it has to repair. `run` rejects with the signal's reason when it is
 * aborted, and with an AppError when a log cannot be kept: neither may be taken for a verdict.
 */
export function createGates(options: GatesOptions): Gates {
  return {
    names: [INTEGRITY_GATE, ...options.config.map((gate) => gate.name)],
    async run(worktree, tree, files, signal, reins) {
      signal.throwIfAborted();
      const first = await checkIntegrity(options.logDir, worktree, tree, files, signal);
      const reports = [first];
      if (first.receipt.status !== 'pass') return reports;
      for (const gate of options.config) reports.push(await runGate(options, gate, worktree, tree, signal, reins));
      return reports;
    },
  };
}

async function checkIntegrity(
  logDir: string,
  worktree: Worktree,
  tree: string,
  files: string[],
  signal: AbortSignal,
): Promise<GateReport> {
  const startedAt = performance.now();
  const log = await openGateLog(logDir);
  try {
    const problems = await integrityProblems(worktree.path, files, signal);
    const text = problems.join('\n') || `${files.length} changed files are in order`;
    await log.write(Buffer.from(`${text}\n`));
    const { hash } = await log.keep();
    const isFine = problems.length === 0;
    return {
      receipt: {
        gate: INTEGRITY_GATE,
        command: '',
        tree,
        status: isFine ? 'pass' : 'fail',
        exitCode: null,
        durationMs: Math.round(performance.now() - startedAt),
        counts: null,
        logHash: hash,
      },
      excerpt: isFine ? '' : excerptOf('The change is not in order.', text),
    };
  } catch (error) {
    await log.discard();
    throw error;
  }
}

async function runGate(
  { host, logDir, env }: GatesOptions,
  gate: GateConfig,
  worktree: Worktree,
  tree: string,
  signal: AbortSignal,
  reins: Reins | undefined,
): Promise<GateReport> {
  const startedAt = performance.now();
  const log = await openGateLog(logDir);
  try {
    const child = startChild({
      host,
      runId: `gate_${randomUUID()}`,
      command: ['sh', '-c', gate.run],
      cwd: worktree.path,
      env: { CI: '1', ...env },
      // Go refuses to build without a place for its cache, and the home folder is read-only in there.
      sandboxEnv: { GOCACHE: '/tmp/go-build' },
      network: gate.network,
      // Containers are a way to the network like any other, and some tests need them.
      writable: gate.network ? CONTAINER_SOCKETS : [],
      timeoutMs: gate.timeout,
      signal,
      reins,
      onOutput: (chunk) => log.write(chunk),
    });
    const ended = await child.end;
    if (ended.kind === 'stopped') throw signal.reason;
    const verdict = judge(ended, gate);
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
        durationMs: Math.round(performance.now() - startedAt),
        counts: readCounts(text),
        logHash: hash,
      },
      excerpt: excerptOf(`It ${verdict.says}.`, text),
    };
  } catch (error) {
    await log.discard();
    throw error;
  }
}

/** Only exit 0 is a pass. A check that could not be made is `unverified`, so that nobody is blamed or believed for it. */
function judge(ended: ChildEnd, gate: GateConfig): { status: GateStatus; says: string; note: string } {
  switch (ended.kind) {
    case 'unstartable':
      return { status: 'unverified', says: 'could not be started', note: ended.message };
    case 'timeout':
    case 'stopped': {
      const says = `timed out after ${gate.timeout / 1000} s`;
      return { status: 'fail', says, note: `${says} and was killed` };
    }
    case 'exited': {
      const { exitCode, signal } = ended;
      if (exitCode === 0) return { status: 'pass', says: 'passed', note: '' };
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
