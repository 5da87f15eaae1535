import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@tidemill/contract';
import type { Services } from '../handlers/context.ts';
import { readBytes } from './body.ts';
import { send } from './response.ts';

const PATH = /^\/v1\/hooks\/github\/([^/]+)$/;
/** GitHub sends at most 25 MB. */
const MAX_BYTES = 25 * 1024 * 1024;
/** However many arrive, GitHub is asked once in this time. */
const PAUSE_MS = 1_000;

/**
 * A webhook of GitHub. It carries no state: a signed one only makes Tidemill ask GitHub at once. So one that is replayed,
 * late or out of order does no harm. Its sender has no token, only the secret.
 */
export class GithubHooks {
  readonly #last = new Map<string, number>();
  readonly #later = new Map<string, NodeJS.Timeout>();

  /** Returns false if the request is for somebody else. */
  async answer(
    servicesOf: () => Services,
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
  ): Promise<boolean> {
    const wanted = PATH.exec(path)?.[1];
    if (wanted === undefined || request.method !== 'POST') return false;
    const services = servicesOf();
    const signature = /^sha256=([0-9a-f]{64})$/.exec(String(request.headers['x-hub-signature-256'] ?? ''))?.[1];
    if (signature === undefined) throw unsigned();
    const projects = await services.store.projects();
    const project =
      projects.find(({ id }) => id === wanted) ?? projects.find(({ name }) => encodeURIComponent(name) === wanted);
    const secret = project ? await services.machine.hookSecret(project) : null;
    // The same answer for an unknown project, one without a secret, and a wrong signature.
    if (!project || secret === null || !isSignedBy(secret, signature, await readBytes(request, MAX_BYTES)))
      throw unsigned();
    this.#wake(project.id, () => services.engines.of(project).lookOutside());
    send(response, 202, { ok: true });
    return true;
  }

  close(): void {
    for (const timer of this.#later.values()) clearTimeout(timer);
    this.#later.clear();
  }

  #wake(id: string, look: () => void): void {
    if (this.#later.has(id)) return;
    const waitMs = (this.#last.get(id) ?? 0) + PAUSE_MS - Date.now();
    const now = () => {
      this.#later.delete(id);
      this.#last.set(id, Date.now());
      look();
    };
    if (waitMs <= 0) now();
    else this.#later.set(id, setTimeout(now, waitMs));
  }
}

const unsigned = () =>
  new AppError('unauthorized', 'the webhook is not signed with the secret of this project', {
    hint: 'Set the same secret on GitHub and in the variable that `github.webhookSecret` names.',
  });

function isSignedBy(secret: string, signature: string, body: Buffer): boolean {
  const expected = createHmac('sha256', secret).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
