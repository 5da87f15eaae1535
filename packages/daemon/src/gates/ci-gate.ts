import { setTimeout as delay } from 'node:timers/promises';
import { AppError, type GateConfig, type GateStatus, gateSeverity } from '@tidemill/contract';
import { judgeChecks } from '@tidemill/core';
import type { CheckResult, GateReport, GateRequest } from '../ports.ts';
import { excerptOf } from './excerpt.ts';
import { openGateLog } from './gate-log.ts';
import type { GatesOptions } from './run-gate.ts';

const LOOK_MS = 5_000;
/** Checks appear one after another, so a complete set must be seen twice. */
const LOOKS = 2;

interface Verdict {
  status: GateStatus;
  says: string;
  text: string;
}

/**
 * What CI says about the commit. Only results that it reported count: nothing reported, not finished in time or not
 * reachable is `unverified`, never a pass.
 */
export async function runCi(options: GatesOptions, gate: GateConfig, request: GateRequest): Promise<GateReport> {
  const startedAt = performance.now();
  const log = await openGateLog(options.logDir);
  const running = request.watch?.begin(gate.timeout);
  try {
    const verdict = await ask(options, gate, request, () => running?.output());
    await log.write(Buffer.from(`${verdict.says}\n${verdict.text}\n`));
    const { hash } = await log.keep();
    return {
      receipt: {
        gate: gate.name,
        command: '',
        tree: request.tree,
        status: verdict.status,
        exitCode: null,
        durationMs: Math.round(performance.now() - startedAt),
        counts: null,
        logHash: hash,
        level: gate.level,
        environment: 'GitHub',
        config: options.hashes?.[gate.name] ?? '',
        attempt: request.again?.includes(gate.name) ? 2 : 1,
        ...(gateSeverity(gate) === 'warn' ? { severity: 'warn' as const } : {}),
      },
      excerpt: verdict.status === 'pass' ? '' : excerptOf(verdict.says, verdict.text),
      fixed: [],
    };
  } catch (error) {
    await log.discard();
    throw error;
  } finally {
    running?.end();
  }
}

async function ask(
  { ci }: GatesOptions,
  { timeout, checks = [] }: GateConfig,
  { commit, held, signal }: GateRequest,
  onLook: () => void,
): Promise<Verdict> {
  if (!ci) return unverified('CI cannot be asked: GitHub is not configured (`github`).');
  if (commit === undefined) return unverified('there is no commit to push.');
  if (held !== undefined) return unverified(held);
  let left = '';
  try {
    const refused = await ci.offer(commit);
    if (refused !== null) return unverified(`the commit could not be pushed for CI: ${refused}`);
    const verdict = await follow(() => ci.results(commit), { timeout, checks, signal, onLook }).finally(async () => {
      // What CI said counts, also when its branch stays.
      await ci.withdraw(commit).catch((error: unknown) => {
        left = `\nIts branch could not be removed: ${error instanceof Error ? error.message : error}`;
      });
    });
    return { ...verdict, text: `${verdict.text}${left}` };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AppError)) throw error;
    return unverified(`CI cannot be asked: ${error.message}`);
  }
}

async function follow(
  look: () => Promise<CheckResult[]>,
  about: { timeout: number; checks: string[]; signal: AbortSignal; onLook: () => void },
): Promise<Verdict> {
  const { timeout, checks, signal, onLook } = about;
  const until = performance.now() + timeout;
  const pauseMs = Math.min(LOOK_MS, timeout / 10);
  let passedLooks = 0;
  for (;;) {
    signal.throwIfAborted();
    const results = await look();
    onLook();
    const verdict = judgeChecks({ required: [], results }, { checks });
    const text = results.map(({ name, state }) => `${name}: ${state}`).join('\n');
    if (verdict.kind === 'failed') {
      const details = verdict.results.map(({ name, summary, url }) =>
        [`${name} failed ${url ?? ''}`, summary].join('\n'),
      );
      return { status: 'fail', says: 'CI failed.', text: details.join('\n') };
    }
    passedLooks = verdict.kind === 'passed' ? passedLooks + 1 : 0;
    if (passedLooks >= LOOKS) return { status: 'pass', says: 'CI passed.', text };
    if (performance.now() + pauseMs >= until) {
      const why = verdict.kind === 'pending' ? `${verdict.names.join(', ')} did not end` : 'no check was reported';
      return { ...unverified(`${why} within ${Math.round(timeout / 1000)} s.`), text };
    }
    await delay(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

const unverified = (says: string): Verdict => ({ status: 'unverified', says: `CI is not verified: ${says}`, text: '' });
