import { randomUUID } from 'node:crypto';
import { elapsed, type GateConfig, type GateStatus, gateSeverity } from '@tidemill/contract';
import { tellingLines } from '@tidemill/core';
import type { BranchCi, FolderReads, GateReport, GateRequest } from '../ports.ts';
import { type ChildEnd, type ChildHost, startChild } from '../process/child.ts';
import { clonePath } from '../process/clone-path.ts';
import { passedOn } from '../process/environment.ts';
import { observe } from '../process/observe.ts';
import { refusalHints } from '../process/refusal-hint.ts';
import { CONTAINER_SOCKETS, sandboxStatus } from '../process/sandbox.ts';
import { countsOf } from './counts/counts.ts';
import { judgeCounts } from './counts/judge-counts.ts';
import { type SummaryLine, SummaryLines } from './counts/summary-lines.ts';
import { excerptOf, plainText } from './excerpt.ts';
import { type GateLog, openGateLog } from './gate-log.ts';
import { clearReport, MOST_REPORT_BYTES } from './scan/report-file.ts';
import { judgeScan, type Scanned } from './scan/scan-gate.ts';

export interface GatesOptions {
  /** Without one, a gate of kind ci is unverified. */
  ci?: BranchCi;
  config: GateConfig[];
  /** The hash of each gate's settings, for its receipts. */
  hashes?: Record<string, string>;
  host: ChildHost;
  /** Logs are kept here as `<sha256>.log`. */
  logDir: string;
  /** What gates were seen to read is kept here. Absent: it is not kept. */
  readsDir?: string;
}

/** A gate whose command has ended. Its verdict needs to know which files changed. */
export interface EndedGate {
  gate: GateConfig;
  ended: ChildEnd;
  durationMs: number;
  log: GateLog;
  /** What a scan printed; null when it is too long. */
  stdout: string | null;
  /** The end of everything it printed. */
  lastOutput: string;
  reads: FolderReads | null;
  /** The lines of test summaries. */
  lines: SummaryLine[];
}

const LAST_OUTPUT = 32 * 1024;
const NOTHING_RUN: ChildEnd = { kind: 'exited', exitCode: 0, signal: null };

/** Runs the command to its end. Rejects with the signal's reason when it was stopped, and leaves no log then. */
export async function runCommand(
  { host, logDir }: GatesOptions,
  gate: GateConfig,
  { path, files, observe: isObserved, isElsewhere, isMoved, signal, control, watch }: GateRequest,
): Promise<EndedGate> {
  const startedAt = performance.now();
  const log = await openGateLog(logDir);
  const running = watch?.begin(gate.timeout);
  const printed: Buffer[] = [];
  let size = 0;
  let last = Buffer.alloc(0);
  const keep = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MOST_REPORT_BYTES) printed.push(Buffer.from(chunk));
  };
  const summary = new SummaryLines();
  const isRead = gate.kind !== undefined && gate.kind !== 'command' && gate.report === undefined;
  const elapsedMs = () => Math.round(performance.now() - startedAt);
  try {
    // A gate that only looks at the change starts no program.
    const nothing = { gate, log, stdout: '', lastOutput: '', reads: null, lines: [] };
    if (gate.run === '') return { ...nothing, ended: NOTHING_RUN, durationMs: elapsedMs() };
    const fault = gate.report === undefined ? null : await clearReport(path, gate.report);
    if (fault !== null) return { ...nothing, ended: { kind: 'unstartable', message: fault }, durationMs: 0 };
    const observation = await observe(path, isObserved ? 'all' : (files ?? []), host);
    const child = startChild({
      host,
      runId: `gate_${randomUUID()}`,
      command: ['sh', '-c', gate.run],
      cwd: path,
      asClone: { pass: gate.pass, isMoved },
      env: { ...(isElsewhere ? {} : { CI: '1' }), ...passedOn(gate.pass), ...gate.env },
      // Go refuses to build without a place for its cache, and the home folder is read-only in there.
      sandboxEnv: { GOCACHE: '/tmp/go-build' },
      network: gate.network,
      networkSettings: gate.network,
      // Containers give network access too, and some tests need them.
      writable: gate.network ? CONTAINER_SOCKETS : [],
      timeoutMs: gate.timeout,
      signal,
      control,
      onOutput: (chunk, from) => {
        running?.output();
        last = Buffer.concat([last, chunk]).subarray(-LAST_OUTPUT);
        if (isRead && from === 'stdout') keep(chunk);
        else summary.write(chunk, from);
        return log.write(chunk);
      },
      ...(observation.onTrace ? { onTrace: observation.onTrace } : {}),
    });
    const ended = await child.end;
    // Before anything else reads these files.
    const reads = await observation.end();
    if (ended.kind === 'stopped') throw signal.reason;
    const stdout = size > MOST_REPORT_BYTES ? null : Buffer.concat(printed).toString('utf8');
    const lines = summary.finish(log.end());
    const lastOutput = plainText(last.toString('utf8'));
    return { gate, ended, durationMs: elapsedMs(), log, stdout, lastOutput, reads, lines };
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
  { gate, ended, durationMs, log, stdout, lastOutput, reads, lines }: EndedGate,
  request: GateRequest,
  changed: string[],
): Promise<GateReport> {
  const { tree, again = [] } = request;
  try {
    const found = await scanned(gate, ended, stdout, request, await clonePath(host, request.path));
    const plain = judge(ended, gate, gate.fixes ? [] : changed);
    const counts = found
      ? null
      : await countsOf(gate, { lines, end: plainText(log.end()), folder: request.path }, request.figures);
    const counted = found || plain.status !== 'pass' ? null : await judgeCounts(gate, counts, request);
    const verdict =
      found && changed.length === 0
        ? { ...found, note: [found.says, ...found.lines].join('\n') }
        : { ...plain, ...counted?.verdict };
    const about = { host, worktree: request.path, network: gate.network };
    const hints = verdict.status === 'pass' || found ? [] : await refusalHints(lastOutput, about);
    const notes = [verdict.note, ...hints].filter((note) => note !== '');
    if (notes.length > 0) await log.write(Buffer.from(`\n[${notes.join('\n')}]\n`));
    const { hash, end } = await log.keep();
    const text = plainText(end);
    const isWarning = gateSeverity(gate) === 'warn';
    const headline = [`It ${verdict.says}.`, ...hints].join('\n');
    const output = found && changed.length === 0 ? found.lines.join('\n') : text;
    return {
      receipt: {
        gate: gate.name,
        command: gate.run,
        tree,
        status: verdict.status,
        exitCode: ended.kind === 'exited' && gate.run !== '' ? ended.exitCode : null,
        durationMs,
        counts,
        logHash: hash,
        level: gate.level,
        environment: gate.run === '' ? '' : await environmentOf(host, gate),
        config: hashes[gate.name] ?? '',
        attempt: again.includes(gate.name) ? 2 : 1,
        ...(isWarning ? { severity: 'warn' as const } : {}),
        ...(found?.scan ? { scan: found.scan } : {}),
        ...(counted?.fewerThan ? { fewerThan: counted.fewerThan } : {}),
      },
      excerpt: excerptOf(headline, output),
      quote: [headline, tellingLines(output)].join('\n').trimEnd(),
      reads,
      fixed: gate.fixes && verdict.status === 'pass' ? changed : [],
      ...(found ? { findingKeys: found.keys } : {}),
    };
  } catch (error) {
    await log.discard();
    throw error;
  }
}

/** Null when only the exit code counts, or when the tool did not come to its end. */
async function scanned(
  gate: GateConfig,
  ended: ChildEnd,
  stdout: string | null,
  request: GateRequest,
  shownAt: string | null,
): Promise<Scanned | null> {
  if (gate.kind === undefined || gate.kind === 'command' || ended.kind !== 'exited') return null;
  const { exitCode, signal } = ended;
  if (signal !== null || exitCode === 126 || exitCode === 127 || exitCode === 137) return null;
  return judgeScan(gate, { exitCode, stdout }, request, shownAt);
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
    case 'over_limit':
      return { status: 'fail', says: ended.message, note: ended.message };
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
