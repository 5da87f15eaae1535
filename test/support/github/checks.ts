import type { Account } from './accounts.ts';
import { type Answer, type Asked, answer, notFound } from './exchange.ts';

export interface CheckResult {
  name: string;
  /** `pending` covers queued and in progress. */
  state: 'pending' | 'success' | 'failure';
}

interface Status {
  id: number;
  state: string;
  context: string;
  description: string | null;
  target_url: string | null;
  creator: { login: string };
  created_at: string;
  updated_at: string;
}

interface CheckRun {
  id: number;
  head_sha: string;
  name: string;
  status: string;
  conclusion: string | null;
  details_url: string | null;
  html_url: string;
  external_id: string;
  output: { title: string | null; summary: string | null; text: string | null; annotations_count: number };
  app: { slug: string };
  started_at: string | null;
  completed_at: string | null;
}

const PASSED = new Set(['success', 'neutral', 'skipped']);

/** Commit statuses (any token with push access) and check runs (Apps only), by commit. */
export class Checks {
  readonly #statuses = new Map<string, Status[]>();
  readonly #runs: CheckRun[] = [];
  #nextId = 1;

  /** The newest result of each name. */
  of(sha: string): CheckResult[] {
    const results = new Map<string, CheckResult>();
    for (const { context, state } of this.#statuses.get(sha) ?? [])
      results.set(context, {
        name: context,
        state: state === 'success' ? 'success' : state === 'pending' ? 'pending' : 'failure',
      });
    for (const run of this.#runs.filter(({ head_sha }) => head_sha === sha))
      results.set(run.name, {
        name: run.name,
        state: run.status !== 'completed' ? 'pending' : PASSED.has(run.conclusion ?? '') ? 'success' : 'failure',
      });
    return [...results.values()];
  }

  /** What an Actions workflow reports: a check run of GitHub's own App. */
  report(sha: string, name: string, conclusion: string | null, summary = ''): void {
    const found = this.#runs.find((run) => run.head_sha === sha && run.name === name);
    const status = conclusion === null ? 'in_progress' : 'completed';
    if (found) Object.assign(found, { status, conclusion, output: { ...found.output, summary } });
    else
      this.#addRun(
        { head_sha: sha, name, status, conclusion: conclusion ?? undefined, output: { summary } },
        'github-actions',
      );
  }

  /** A second run of the same name, such as of another workflow. */
  reportAnother(sha: string, name: string, conclusion: string): void {
    this.#addRun({ head_sha: sha, name, status: 'completed', conclusion }, 'github-actions');
  }

  answer(asked: Asked, inside: string, account: Account | null, mayPush: boolean): Answer | null {
    const { method } = asked;
    const written = /^\/statuses\/([0-9a-f]{40})$/.exec(inside);
    if (written && method === 'POST') return mayPush ? this.#addStatus(asked, written[1]!) : notFound();
    const read = /^\/commits\/([^/]+)\/(status|statuses|check-runs)$/.exec(inside);
    if (read && method === 'GET') return this.#read(asked, read[1]!, read[2]!);
    if (!inside.startsWith('/check-runs')) return null;
    if (account?.kind !== 'app')
      return answer(403, { message: 'You must authenticate via a GitHub App.', documentation_url: '' });
    const body = JSON.parse(asked.body || '{}');
    if (method === 'POST' && inside === '/check-runs') return answer(201, this.#addRun(body, 'tidemill'));
    const run = this.#runs.find(({ id }) => inside === `/check-runs/${id}`);
    if (!run) return notFound();
    if (method === 'PATCH') Object.assign(run, body, { output: { ...run.output, ...body.output } });
    return answer(200, run);
  }

  #addStatus(asked: Asked, sha: string): Answer {
    const { state, context = 'default', description = null, target_url = null } = JSON.parse(asked.body || '{}');
    if (!['error', 'failure', 'pending', 'success'].includes(state))
      return answer(422, { message: 'Validation Failed' });
    if (typeof description === 'string' && description.length > 140)
      return answer(422, {
        message: 'Validation Failed',
        errors: ['description is too long (maximum is 140 characters)'],
      });
    const at = new Date().toISOString();
    const creator = { login: asked.login ?? '' };
    const status = {
      id: this.#nextId++,
      state,
      context,
      description,
      target_url,
      creator,
      created_at: at,
      updated_at: at,
    };
    this.#statuses.set(sha, [...(this.#statuses.get(sha) ?? []), status]);
    return answer(201, status);
  }

  #addRun(body: Partial<Omit<CheckRun, 'output'>> & { output?: object }, slug: string): CheckRun {
    const id = this.#nextId++;
    const run: CheckRun = {
      id,
      head_sha: body.head_sha ?? '',
      name: body.name ?? '',
      status: body.status ?? 'queued',
      conclusion: body.conclusion ?? null,
      details_url: body.details_url ?? null,
      html_url: `https://github.example/runs/${id}`,
      external_id: body.external_id ?? '',
      output: { title: null, summary: null, text: null, annotations_count: 0, ...body.output },
      app: { slug },
      started_at: null,
      completed_at: null,
    };
    this.#runs.push(run);
    return run;
  }

  #read({ query }: Asked, sha: string, what: string): Answer {
    const size = Number(query.get('per_page') ?? 30);
    const from = (Number(query.get('page') ?? 1) - 1) * size;
    const statuses = this.#statuses.get(sha) ?? [];
    const newest = [...new Map(statuses.map((status) => [status.context, status])).values()];
    if (what === 'statuses') return answer(200, [...statuses].reverse());
    if (what === 'status') {
      const states = newest.map(({ state }) => state);
      const state = states.some((one) => one === 'failure' || one === 'error')
        ? 'failure'
        : states.length && states.every((one) => one === 'success')
          ? 'success'
          : 'pending';
      return answer(200, { state, sha, total_count: newest.length, statuses: newest.slice(from, from + size) });
    }
    const runs = this.#runs.filter(({ head_sha }) => head_sha === sha);
    return answer(200, { total_count: runs.length, check_runs: runs.slice(from, from + size) });
  }
}
