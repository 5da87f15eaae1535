import { Comments } from './comments.ts';
import { type Answer, type Asked, answer, notFound } from './exchange.ts';
import type { Upstream } from './upstream.ts';

type Row = Record<string, unknown> & { id: number; number: number; labels?: { name: string }[] };

/** What the emulator lacks about issues: dependencies, what strangers may not do, deleted and transferred ones. */
export class Issues {
  readonly #blockedBy = new Map<number, Set<number>>();
  readonly #gone = new Map<number, { status: number; message: string }>();
  readonly #upstream: Upstream;
  readonly #users: ReadonlySet<string>;
  readonly #comments: Comments;

  constructor(upstream: Upstream, users: ReadonlySet<string>) {
    this.#upstream = upstream;
    this.#users = users;
    this.#comments = new Comments(upstream);
  }

  blockersOf = (issue: number): number[] => [...(this.#blockedBy.get(issue) ?? [])];

  block(issue: number, by: number): void {
    this.#blockedBy.set(issue, (this.#blockedBy.get(issue) ?? new Set()).add(by));
  }

  /** Deleted: 410. Transferred: 301 to its new place. */
  remove(issue: number, how: 'deleted' | 'transferred'): void {
    this.#gone.set(
      issue,
      how === 'deleted'
        ? { status: 410, message: 'This issue was deleted' }
        : { status: 301, message: 'Moved Permanently' },
    );
  }

  async answer(asked: Asked, inside: string, mayPush: boolean): Promise<Answer | null> {
    const { method } = asked;
    const permission = /^\/collaborators\/([^/]+)\/permission$/.exec(inside);
    if (permission && method === 'GET') return this.#permission(asked, decodeURIComponent(permission[1]!));
    const one = /^\/issues\/(\d+)(\/.*)?$/.exec(inside);
    const number = Number(one?.[1]);
    const gone = this.#gone.get(number);
    if (gone)
      return answer(
        gone.status,
        { message: gone.message },
        gone.status === 301 ? { location: `/repositories/2/issues/${number}` } : {},
      );
    const commented = await this.#comments.answer(asked, inside, (issue) => this.#gone.has(issue));
    if (commented) return commented;
    const blocked = /^\/dependencies\/blocked_by(?:\/(\d+))?$/.exec(one?.[2] ?? '');
    if (blocked) return this.#dependencies(asked, number, blocked[1], mayPush);
    // GitHub ignores labels and milestones that people without push access give.
    if (method === 'POST' && inside === '/issues' && !mayPush) {
      const { title, body } = JSON.parse(asked.body || '{}');
      asked = { ...asked, body: JSON.stringify({ title, body }) };
    }
    if (method === 'POST' && /^\/labels/.test(one?.[2] ?? '') && !mayPush) return notFound();
    if (!/^\/issues(\/\d+)?$/.test(inside)) return null;
    const upstream = await this.#upstream.pass(asked);
    if (upstream.status >= 300) return upstream;
    const rows = upstream.body;
    const body = Array.isArray(rows)
      ? rows.filter((row: Row) => !this.#gone.has(row.number)).map((row: Row) => this.#withSummary(row))
      : this.#withSummary(rows as Row);
    return { ...upstream, body };
  }

  #withSummary(row: Row): Row {
    const blockers = this.blockersOf(row.number).length;
    const blocking = [...this.#blockedBy.values()].filter((set) => set.has(row.number)).length;
    return {
      ...row,
      issue_dependencies_summary: {
        blocked_by: blockers,
        total_blocked_by: blockers,
        blocking,
        total_blocking: blocking,
      },
    };
  }

  async #dependencies(asked: Asked, number: number, id: string | undefined, mayPush: boolean): Promise<Answer> {
    if (asked.method === 'GET') {
      const rows = await Promise.all(
        this.blockersOf(number).map(
          async (blocker) => (await this.#upstream.ask('GET', `/issues/${blocker}`)).body as Row,
        ),
      );
      return answer(
        200,
        rows.map((row) => this.#withSummary(row)),
      );
    }
    if (!mayPush) return notFound();
    const wanted = Number(id ?? JSON.parse(asked.body || '{}').issue_id);
    const { body } = await this.#upstream.ask('GET', '/issues?state=all&per_page=100');
    const blocker = (body as Row[]).find((row) => row.id === wanted);
    if (!blocker) return notFound();
    if (asked.method === 'DELETE') this.#blockedBy.get(number)?.delete(blocker.number);
    else this.block(number, blocker.number);
    return answer(asked.method === 'DELETE' ? 200 : 201, blocker);
  }

  async #permission(asked: Asked, login: string): Promise<Answer> {
    if (!this.#users.has(login)) return notFound();
    const upstream = await this.#upstream.pass(asked);
    if (upstream.status === 404) return answer(200, { permission: 'read', role_name: 'read', user: { login } });
    const body = upstream.body as { permission: string };
    return { ...upstream, body: { ...body, permission: body.permission === 'push' ? 'write' : body.permission } };
  }
}
