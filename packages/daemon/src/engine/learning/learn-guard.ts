import { AppError, ENGINE, type GuardProposal, PATTERN_AT, type Pattern, type Trace } from '@tidemill/contract';
import { caseOf, type Deeds, deriveGuard, mayBeGuarded } from '@tidemill/core';
import { type GuardTools, guardProposalId, proposeGuard } from './guard-flow.ts';

/** Enough to tell what repeats from what happens anyway. */
const LOOKED_AT_CALLS = 3_000;
const LOOKED_AT_TRACES = 50;
const NOTHING: Deeds = { writes: [], commands: [] };

/** Proposes a guard for something that was done wrong repeatedly; null when none can be derived or it is known. */
export async function learnGuard(tools: GuardTools, pattern: Pattern): Promise<GuardProposal | null> {
  const { store, project, calls, guards, hash } = tools;
  const { key } = pattern;
  if (pattern.count < PATTERN_AT || !mayBeGuarded(pattern)) return null;
  if (await store.record('guard_proposal', guardProposalId(tools, key))) return null;
  const found = await store.searchRecords({
    ...{ noun: 'trace', projectId: project.id, tags: [`key:${key}`], limit: LOOKED_AT_TRACES },
  });
  const traces = found.map(({ record }) => record).toSorted((a, b) => b.at - a.at);
  const cases = await casesOf(tools, traces);
  if (cases.length < PATTERN_AT) return null;
  const deeds = await guards.deeds(await calls.recent(LOOKED_AT_CALLS));
  const involved = new Set(cases.flatMap(({ from }) => from));
  const newest = traces[0]!;
  const derived = deriveGuard({
    bad: cases.map(({ from, files }) =>
      joined(
        from.map((id) => deeds.get(id) ?? NOTHING),
        files,
      ),
    ),
    others: [...deeds].filter(([id]) => !involved.has(id)).map(([, each]) => each),
    texts: traces.flatMap(({ what, correct, why, files }) => [what, correct ?? '', why ?? '', ...files]),
    advice: newest.correct ?? newest.why ?? newest.what,
  });
  if (!derived) return null;
  const slug = derived.about
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
  const guard = {
    ...{ name: `no-${slug}-${hash(key).slice(0, 4)}`, when: derived.when, verdict: 'deny', reason: derived.reason },
  };
  try {
    return await proposeGuard(tools, {
      yaml: JSON.stringify([guard]),
      why: `${cases.length} times the same ${pattern.type}: ${pattern.example}`,
      key,
      traceIds: traces.map(({ id }) => id).slice(0, 20),
      by: ENGINE,
    });
  } catch (error) {
    // It would be in the way, or a person has refused the same rule.
    if (error instanceof AppError && (error.code === 'bad_input' || error.code === 'conflict')) return null;
    throw error;
  }
}

interface Case {
  /** Ids of its runs or its session. */
  from: string[];
  files: string[];
}

/** One for each run, or each task where no run is named: trying again in one run is one case. */
async function casesOf({ store }: GuardTools, traces: readonly Trace[]): Promise<Case[]> {
  const cases = new Map<string, Case>();
  for (const trace of traces) {
    const { runId, subjectId, at, files } = trace;
    const name = caseOf(trace);
    const known = cases.get(name) ?? { from: [], files: [] };
    // A reviewer names its own run, and the cause is in an earlier one.
    const runs = subjectId === null ? [] : await store.runs(subjectId);
    const earlier = runs.filter(({ startedAt }) => startedAt <= at).map((run) => run.id);
    cases.set(name, {
      from: [...new Set([...known.from, ...(runId ? [runId] : []), ...earlier])],
      files: [...new Set([...known.files, ...files])],
    });
  }
  return [...cases.values()];
}

const joined = (all: readonly Deeds[], files: readonly string[]): Deeds => ({
  writes: [...all.flatMap(({ writes }) => writes), ...files],
  commands: all.flatMap(({ commands }) => commands),
});
