import { randomUUID } from 'node:crypto';
import { type GateConfig, type GateStatus, INTEGRITY_GATE } from '@tidemill/contract';
import type { GateReport, GateRequest, Gates } from '../ports.ts';
import { type ChildEnd, type ChildHost, startChild } from '../process/child.ts';
import { passedOn } from '../process/environment.ts';
import { CONTAINER_SOCKETS, sandboxStatus } from '../process/sandbox.ts';
import { readCounts } from './counts.ts';
import { excerptOf, plainText } from './excerpt.ts';
import { openGateLog } from './gate-log.ts';
import { integrityProblems } from './integrity.ts';

export interface GatesOptions {
  config: GateConfig[];
  /** The hash of each gate's settings, for its receipts. */
  hashes?: Record<string, string>;
  host: ChildHost;
  /** Logs are kept here as `<sha256>.log`. */
  logDir: string;
}

/**
 * The project's gates. Integrity comes first and needs no process; the others run one after another, even when one
 * fails, so that an agent sees everything it has to fix. Only gates that need a failed gate (`needs`) are left out.
 * `run` rejects with the signal's reason when it is aborted, and with an AppError when a log cannot be stored. Neither
 * is a verdict.
 */
export function createGates(options: GatesOptions): Gates {
  return {
    names: [INTEGRITY_GATE, ...options.config.map((gate) => gate.name)],
    checks: options.config,
    async run(request) {
      request.signal.throwIfAborted();
      const reports: GateReport[] = [];
      if (request.files !== null && !request.only) {
        const first = await checkIntegrity(options.logDir, request, request.files);
        reports.push(first);
        if (first.receipt.status !== 'pass') return reports;
      }
      const passed = new Set<string>();
      for (const gate of wanted(options.config, request.only)) {
        if (!gate.needs.every((name) => passed.has(name))) continue;
        const report = await runGate(options, gate, request);
        reports.push(report);
        if (report.receipt.status === 'pass') passed.add(gate.name);
        if (report.fixed.length > 0) break;
      }
      return reports;
    },
  };
}

/** In the order of the config: a gate that others need comes before them. */
function wanted(config: GateConfig[], only: string[] | undefined): GateConfig[] {
  const names = new Set(only ?? config.map(({ name }) => name));
  for (const gate of config.toReversed()) if (names.has(gate.name)) for (const needed of gate.needs) names.add(needed);
  const chosen = config.filter(({ name }) => names.has(name));
  const ordered: GateConfig[] = [];
  const add = (gate: GateConfig) => {
    if (ordered.includes(gate)) return;
    for (const needed of chosen) if (gate.needs.includes(needed.name)) add(needed);
    ordered.push(gate);
  };
  for (const gate of chosen) add(gate);
  return ordered;
}

async function checkIntegrity(
  logDir: string,
  { path, tree, signal }: GateRequest,
  files: string[],
): Promise<GateReport> {
  const startedAt = performance.now();
  const log = await openGateLog(logDir);
  try {
    const problems = await integrityProblems(path, files, signal);
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
        level: '',
        environment: '',
        config: '',
        attempt: 1,
      },
      excerpt: isFine ? '' : excerptOf('The change is not in order.', text),
      fixed: [],
    };
  } catch (error) {
    await log.discard();
    throw error;
  }
}

async function runGate(options: GatesOptions, gate: GateConfig, request: GateRequest): Promise<GateReport> {
  const { host, logDir, hashes = {} } = options;
  const { path, tree, signal, control, again = [] } = request;
  const attempt = again.includes(gate.name) ? 2 : 1;
  const startedAt = performance.now();
  const log = await openGateLog(logDir);
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
      onOutput: (chunk) => log.write(chunk),
    });
    const ended = await child.end;
    if (ended.kind === 'stopped') throw signal.reason;
    const changed = (await request.changes?.()) ?? [];
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
        durationMs: Math.round(performance.now() - startedAt),
        counts: readCounts(text),
        logHash: hash,
        level: gate.level,
        environment: await environmentOf(host, gate),
        config: hashes[gate.name] ?? '',
        attempt,
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
      const says = `timed out after ${gate.timeout / 1000} s`;
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
