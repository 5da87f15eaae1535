import { OWN_CHECKS } from '@tidemill/core';
import { z } from 'zod';
import type { BranchChecks, CheckResult, GateResult } from '../../../ports.ts';
import type { GithubClient, GithubQuery } from '../client/client.ts';
import { isGithubError } from '../client/github-error.ts';
import { Branch, BranchRules, CheckRuns, CombinedStatus } from './schemas.ts';

/** Conclusions of a check run with which GitHub merges. */
const GOOD = new Set(['success', 'neutral', 'skipped']);
/** GitHub's own limit for the text of a status. */
const MOST_DESCRIPTION = 140;
const BADNESS = { passed: 0, pending: 1, failed: 2 };

export async function readChecks(client: GithubClient, commit: string, target: string): Promise<BranchChecks> {
  const [{ required, hasQueue }, results] = await Promise.all([readRules(client, target), readResults(client, commit)]);
  return { required, hasQueue, results };
}

/** Commit statuses and check runs. Several results can have one name (two workflows, two events): the worst counts. */
export async function readResults(client: GithubClient, commit: string): Promise<CheckResult[]> {
  const [statuses, runs] = await Promise.all([
    allPages(async (query) => {
      const { statuses, total_count } = await client.get(`/commits/${commit}/status`, CombinedStatus, query);
      return { rows: statuses, total: total_count };
    }),
    allPages(async (query) => {
      const latest = { ...query, filter: 'latest' };
      const { check_runs, total_count } = await client.get(`/commits/${commit}/check-runs`, CheckRuns, latest);
      return { rows: check_runs, total: total_count };
    }),
  ]);
  const results = new Map<string, CheckResult>();
  for (const { context, state, description, target_url } of statuses)
    add(results, {
      name: context,
      state: state === 'success' ? 'passed' : state === 'pending' ? 'pending' : 'failed',
      summary: description ?? '',
      url: target_url,
    });
  const ended = new Set(runs.filter((run) => !isSuperseded(run)).map(({ name }) => name));
  for (const run of runs) {
    const { name, status, conclusion, html_url, output } = run;
    if (isSuperseded(run) && ended.has(name)) continue;
    add(results, {
      name,
      state: status !== 'completed' ? 'pending' : GOOD.has(conclusion ?? '') ? 'passed' : 'failed',
      summary: [output.title, output.summary, output.text].filter(Boolean).join('\n'),
      url: html_url ?? null,
    });
  }
  return [...results.values()];
}

/** A failed result on the second page counts too. */
async function allPages<T>(read: (query: GithubQuery) => Promise<{ rows: T[]; total: number }>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page += 1) {
    const { rows, total } = await read({ per_page: 100, ...(page === 1 ? {} : { page }) });
    all.push(...rows);
    if (rows.length === 0 || all.length >= total) return all;
  }
}

/** GitHub cancels a run when a newer one of the same workflow begins. */
const isSuperseded = ({ conclusion }: { conclusion: string | null }) =>
  conclusion === 'cancelled' || conclusion === 'stale';

/** Of our own results the last one is what we published last. */
function add(results: Map<string, CheckResult>, one: CheckResult): void {
  const known = results.get(one.name);
  const isWorse = known && BADNESS[one.state] > BADNESS[known.state];
  if (!known || isWorse || one.name.startsWith(OWN_CHECKS)) results.set(one.name, one);
}

/** What the target requires: by a classic protection, readable with the branch, or by rulesets. */
async function readRules(client: GithubClient, target: string): Promise<Pick<BranchChecks, 'required' | 'hasQueue'>> {
  const name = encodeURIComponent(target);
  const [branch, rules] = await Promise.all([
    client.get(`/branches/${name}`, Branch),
    client.get(`/rules/branches/${name}`, BranchRules).catch((error: unknown) => {
      // Older GitHub Enterprise servers have no rulesets.
      if (isGithubError(error, 'not_found')) return [];
      throw error;
    }),
  ]);
  const classic = branch.protection?.required_status_checks?.contexts ?? [];
  const byRules = rules.flatMap(({ parameters }) => parameters?.required_status_checks ?? []);
  return {
    required: [...new Set([...classic, ...byRules.map(({ context }) => context)])],
    hasQueue: rules.some(({ type }) => type === 'merge_queue'),
  };
}

/** Only an App may create check runs; a token publishes commit statuses. What is there already is not sent again. */
export async function publish(client: GithubClient, commit: string, results: GateResult[]): Promise<void> {
  const isApp = (await client.kind()) === 'app';
  const there = await readResults(client, commit);
  for (const { gate, state, text } of results) {
    const name = `${OWN_CHECKS}${gate}`;
    const known = there.find((one) => one.name === name);
    const description = text.slice(0, MOST_DESCRIPTION);
    if (known?.state === state && known.summary.includes(description)) continue;
    if (!isApp) {
      const word = state === 'passed' ? 'success' : state === 'failed' ? 'failure' : 'pending';
      await client.send('POST', `/statuses/${commit}`, { state: word, context: name, description }, z.unknown());
      continue;
    }
    const done =
      state === 'pending'
        ? { status: 'in_progress' }
        : { status: 'completed', conclusion: state === 'passed' ? 'success' : 'failure' };
    const body = { name, head_sha: commit, ...done, output: { title: gate, summary: description } };
    await client.send('POST', '/check-runs', body, z.unknown());
  }
}
