import { parse } from 'yaml';
import { type Answer, type Asked, answer, notFound } from './exchange.ts';
import { git } from './git-backend.ts';

interface WorkflowRun {
  id: number;
  path: string;
  display_title: string;
  event: 'workflow_dispatch';
  head_branch: string;
  head_sha: string;
  status: 'queued' | 'in_progress' | 'completed';
  conclusion: string | null;
  html_url: string;
}

interface Started extends WorkflowRun {
  inputs: Record<string, string>;
  /** Lists that are answered without it. */
  unlisted: number;
  isCancelled: boolean;
}

interface Workflow {
  'run-name'?: string;
  on?: Record<string, { inputs?: Record<string, unknown> } | null>;
}

/** GitHub Actions, for workflows that are files of the repository and are started by a request. Nothing of them is run. */
export class Actions {
  readonly runs: Started[] = [];
  /** How many lists are answered before a started run is in them: GitHub is late. */
  lateBy = 0;
  /** How a run ends when it is looked at for the second time. Null: it goes on until `end`. */
  conclusion: string | null = 'success';
  readonly #repository: string;

  constructor(repository: string) {
    this.#repository = repository;
  }

  /** A run ends by itself, or a person cancels it on GitHub's page. */
  end(id: number, conclusion: string): void {
    Object.assign(this.runs.find((run) => run.id === id)!, { status: 'completed', conclusion });
  }

  async answer(asked: Asked, inside: string, mayPush: boolean): Promise<Answer | null> {
    const { method } = asked;
    const [, file, what] = /^\/actions\/workflows\/([^/]+)\/(dispatches|runs)$/.exec(inside) ?? [];
    if (file && what === 'dispatches' && method === 'POST')
      return mayPush ? this.#start(asked, file) : answer(403, { message: 'Must have admin rights to Repository.' });
    if (file && what === 'runs' && method === 'GET') return this.#list(asked, file);
    const [, id, deed] = /^\/actions\/runs\/(\d+)(\/cancel)?$/.exec(inside) ?? [];
    if (!id) return null;
    const run = this.runs.find((each) => each.id === Number(id));
    if (!run) return notFound();
    if (!deed) return answer(200, this.#look(run));
    if (!mayPush) return answer(403, { message: 'Must have admin rights to Repository.' });
    if (run.status === 'completed') return answer(409, { message: 'Cannot cancel a workflow run that is completed.' });
    run.isCancelled = true;
    return answer(202, {});
  }

  async #start({ body }: Asked, file: string): Promise<Answer> {
    const { ref, inputs = {} } = JSON.parse(body) as { ref: string; inputs?: Record<string, string> };
    const invalid = (message: string) => answer(422, { message });
    const head_sha = await this.#git('rev-parse', '--verify', '-q', `refs/heads/${ref}`);
    if (head_sha === null) return invalid(`No ref found for: ${ref}`);
    const path = `.github/workflows/${file}`;
    const text = await this.#git('show', `${head_sha}:${path}`);
    if (text === null) return notFound();
    const workflow = parse(text) as Workflow;
    if (!workflow.on || !('workflow_dispatch' in workflow.on))
      return invalid("Workflow does not have 'workflow_dispatch' trigger");
    const known = Object.keys(workflow.on.workflow_dispatch?.inputs ?? {});
    const unexpected = Object.keys(inputs).filter((name) => !known.includes(name));
    if (unexpected.length > 0) return invalid(`Unexpected inputs provided: ${JSON.stringify(unexpected)}`);
    const title = (workflow['run-name'] ?? file).replaceAll(
      /\$\{\{ *inputs\.(\w+) *\}\}/g,
      (_, name) => inputs[name] ?? '',
    );
    const id = 1000 + this.runs.length;
    this.runs.push({
      ...{ id, path, display_title: title, event: 'workflow_dispatch', head_branch: ref, head_sha, inputs },
      ...{ status: 'queued', conclusion: null, html_url: `https://github.example/actions/runs/${id}` },
      ...{ unlisted: this.lateBy, isCancelled: false },
    });
    return answer(204, '');
  }

  async #list({ query }: Asked, file: string): Promise<Answer> {
    const path = `.github/workflows/${file}`;
    if ((await this.#git('show', `refs/heads/main:${path}`)) === null) return notFound();
    const listed = this.runs.filter((run) => run.path === path && run.unlisted <= 0).reverse();
    for (const run of this.runs) run.unlisted -= 1;
    const runs = listed.slice(0, Number(query.get('per_page') ?? 30)).map(shown);
    return answer(200, { total_count: listed.length, workflow_runs: runs });
  }

  /** Each look is a moment later. */
  #look(run: Started): WorkflowRun {
    const seen = shown(run);
    if (run.status === 'completed') return seen;
    if (run.isCancelled) this.end(run.id, 'cancelled');
    else if (run.status === 'queued') run.status = 'in_progress';
    else if (this.conclusion !== null) this.end(run.id, this.conclusion);
    return seen;
  }

  #git(...args: string[]): Promise<string | null> {
    return git(this.#repository, ...args).catch(() => null); // git says that it does not exist
  }
}

const shown = ({ inputs: _inputs, unlisted: _unlisted, isCancelled: _isCancelled, ...run }: Started): WorkflowRun =>
  run;
