import { type Answer, type Asked, answer } from './exchange.ts';
import type { Upstream } from './upstream.ts';

interface Row {
  id: number;
  issue_url: string;
  updated_at: string;
}

/** The comments of all issues in one list, which the emulator lacks. */
export class Comments {
  readonly #upstream: Upstream;
  readonly #rows = new Map<number, Row>();

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  async answer(asked: Asked, inside: string, isGone: (issue: number) => boolean): Promise<Answer | null> {
    const { method, query } = asked;
    if (method === 'GET' && inside === '/issues/comments') {
      const rows = [...this.#rows.values()].filter((row) => !isGone(issueOf(row)));
      return answer(200, pageOf(rows, query));
    }
    const one = /^\/issues\/comments\/(\d+)$/.exec(inside)?.[1];
    const isWritten = method === 'POST' ? /^\/issues\/\d+\/comments$/.test(inside) : one !== undefined;
    if (method === 'GET' || !isWritten) return null;
    const result = await this.#upstream.pass(asked);
    if (result.status < 300 && method === 'DELETE') this.#rows.delete(Number(one));
    else if (result.status < 300) this.#rows.set((result.body as Row).id, result.body as Row);
    return result;
  }
}

const issueOf = ({ issue_url: url }: Row) => Number(url.slice(url.lastIndexOf('/') + 1));

function pageOf(rows: Row[], query: URLSearchParams): Row[] {
  const since = query.get('since') ?? '';
  const sorted = rows
    .filter(({ updated_at: at }) => at >= since)
    .sort((a, b) => a.updated_at.localeCompare(b.updated_at) || a.id - b.id);
  const size = Number(query.get('per_page') ?? 30);
  const from = (Number(query.get('page') ?? 1) - 1) * size;
  return sorted.slice(from, from + size);
}
