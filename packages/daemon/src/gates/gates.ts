import { availableParallelism } from 'node:os';
import { GateConfig, gateSeverity, INTEGRITY_GATE, isBlocking, isTripwired } from '@tidemill/contract';
import { TASK_GATE_MS } from '@tidemill/core';
import type { GateReport, GateRequest, Gates } from '../ports.ts';
import { runCi } from './ci-gate.ts';
import { isCounted } from './counts/judge-counts.ts';
import { excerptOf, plainText } from './excerpt.ts';
import { openGateLog, readGateLog } from './gate-log.ts';
import { groupsOf, sideBySide, wanted } from './gate-order.ts';
import { integrityProblems } from './integrity.ts';
import { ReadsBook } from './reads.ts';
import { type EndedGate, type GatesOptions, reportOf, runCommand } from './run-gate.ts';

/**
 * The project's gates. Integrity comes first and needs no process. The others run in the order of the config, even when
 * one fails, so that an agent sees everything it has to fix. Neighbours with `parallel` run side by side. Only gates
 * that need a failed gate (`needs`) are left out. `run` rejects with the signal's reason when it is aborted, and with an
 * AppError when a log cannot be stored. Neither is a verdict.
 */
export function createGates(options: GatesOptions): Gates {
  const book = options.readsDir === undefined ? null : new ReadsBook(options.readsDir, options.hashes ?? {});
  const observable = options.config.filter(({ run, kind }) => run !== '' && kind !== 'ci').map(({ name }) => name);
  const runAll = async (request: GateRequest): Promise<GateReport[]> => {
    request.signal.throwIfAborted();
    const reports: GateReport[] = [];
    if (request.files !== null && !request.only) {
      const first = await checkIntegrity(options.logDir, request, request.files);
      reports.push(first);
      if (first.receipt.status !== 'pass') return reports;
    }
    // CI is asked about a change, not about what has landed.
    const gates = [
      ...wanted(options.config, request).filter(({ kind }) => kind !== 'ci' || request.files !== null),
      ...ownGates(request),
    ];
    // A gate that failed beside others gets its second attempt alone.
    const groups = request.again ? gates.map((gate) => [gate]) : groupsOf(gates);
    const passed = new Set<string>();
    for (const group of groups) {
      const made = await runGroup(options, group, request, passed);
      reports.push(...made);
      if (book)
        await keepReads(
          book,
          made.filter(({ receipt }) => observable.includes(receipt.gate)),
          request,
        );
      for (const { receipt } of made) if (!isBlocking(receipt)) passed.add(receipt.gate);
      if (made.some(({ fixed }) => fixed.length > 0)) break;
    }
    return reports;
  };
  /** The run that observes the target. What it finds is worth waiting for. */
  let observing: Promise<unknown> = Promise.resolve();
  return {
    ...(book
      ? { reads: () => observing.then(() => book.all(observable)), unobserved: () => book.unobserved(observable) }
      : {}),
    names: [INTEGRITY_GATE, ...options.config.filter((gate) => gateSeverity(gate) === 'block').map(({ name }) => name)],
    ofChange: options.config.filter(({ kind }) => kind === 'ci').map(({ name }) => name),
    tripwired: options.config.filter(isTripwired).map(({ name }) => name),
    counted: options.config.filter(isCounted).map(({ name }) => name),
    checks: options.config.filter(({ run }) => run !== ''),
    run(request) {
      const reports = runAll(request);
      if (request.observe) observing = Promise.allSettled([observing, reports]);
      return reports;
    },
    storedExcerpt: async (logHash) => excerptOf('', plainText(await readGateLog(options.logDir, logHash))).trim(),
  };
}

const OWN = GateConfig.parse({ name: 'validate', run: 'true', expects: 'exit_code' });

/** The tasks' own commands, with the same walls as every gate. They are never asked about the target. */
const ownGates = ({ own = [], only }: GateRequest): GateConfig[] =>
  own
    .filter(({ name }) => !only || only.includes(name))
    .map(({ name, run }) => ({ ...OWN, name, run, timeout: TASK_GATE_MS }));

/** A run without a change that was not observed in full teaches nothing. */
async function keepReads(book: ReadsBook, reports: GateReport[], request: GateRequest): Promise<void> {
  const { tree, files, observe } = request;
  if (files === null && !observe) return;
  for (const { receipt, reads } of reports)
    if (reads) await book.note(receipt.gate, tree, reads, observe ? null : files);
}

/**
 * Runs gates at the same time, in the same folder. If files changed meanwhile, it is unknown which gate did it, and what
 * the others saw. Then nothing of this run counts, and they run again, one after another.
 */
async function runGroup(
  options: GatesOptions,
  group: GateConfig[],
  request: GateRequest,
  passed: ReadonlySet<string>,
): Promise<GateReport[]> {
  const [only] = group;
  if (only && group.length === 1) return runAlone(options, only, request, passed);
  const run = (gate: GateConfig) => runCommand(options, gate, request);
  const settled = await sideBySide(group, availableParallelism(), passed, run);
  const ended = settled.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : []));
  try {
    const failure = settled.find((result) => result.status === 'rejected');
    if (failure) throw failure.reason;
    const changed = (await request.changes?.()) ?? [];
    if (changed.length === 0) return await Promise.all(ended.map((each) => reportOf(options, each, request, [])));
  } catch (error) {
    await discard(ended);
    throw error;
  }
  await discard(ended);
  await request.reset?.();
  const reports: GateReport[] = [];
  const passedNow = new Set(passed);
  for (const gate of group) {
    const made = await runAlone(options, gate, request, passedNow);
    reports.push(...made);
    for (const { receipt } of made) if (!isBlocking(receipt)) passedNow.add(receipt.gate);
  }
  return reports;
}

async function runAlone(
  options: GatesOptions,
  gate: GateConfig,
  request: GateRequest,
  passed: ReadonlySet<string>,
): Promise<GateReport[]> {
  if (!gate.needs.every((name) => passed.has(name))) return [];
  if (gate.kind === 'ci') return [await runCi(options, gate, request)];
  const ended = await runCommand(options, gate, request);
  const changed = await changesAfter(ended, request);
  const report = await reportOf(options, ended, request, changed);
  // The next gate gets the tree, and is not blamed for these files.
  if (changed.length > 0 && report.fixed.length === 0) await request.reset?.();
  return [report];
}

async function changesAfter(ended: EndedGate, request: GateRequest): Promise<string[]> {
  try {
    return (await request.changes?.()) ?? [];
  } catch (error) {
    await discard([ended]);
    throw error;
  }
}

const discard = (ended: EndedGate[]) => Promise.all(ended.map(({ log }) => log.discard()));

async function checkIntegrity(logDir: string, request: GateRequest, files: string[]): Promise<GateReport> {
  const startedAt = performance.now();
  const { path, tree } = request;
  const log = await openGateLog(logDir);
  try {
    const problems = await integrityProblems(path, files, request);
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
