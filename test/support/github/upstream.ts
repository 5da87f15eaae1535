import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { createEmulator, type Emulator } from 'emulate';
import type { Answer, Asked } from './exchange.ts';

export interface Seed {
  owner: string;
  name: string;
  /** Everybody with an account; the owner administers the repository. */
  users: { login: string; token: string; access: 'push' | 'none' | 'admin' }[];
  app?: { id: number; installation: number; key: string };
}

/** The emulator that keeps users, issues, labels, milestones, comments, reviews and webhooks. */
export class Upstream {
  readonly owner: string;
  readonly #emulator: Emulator;
  readonly #url: string;
  readonly #path: string;
  readonly #adminToken: string;
  readonly #publicUrl: string;

  private constructor(emulator: Emulator, port: number, { owner, name, users }: Seed, publicUrl: string) {
    this.#publicUrl = publicUrl;
    this.#emulator = emulator;
    this.#url = `http://127.0.0.1:${port}`;
    this.#path = `/repos/${owner}/${name}`;
    this.owner = owner;
    this.#adminToken = users.find(({ login }) => login === owner)!.token;
  }

  /** `publicUrl` is what links in answers begin with. */
  static async start(seed: Seed, publicUrl: string): Promise<Upstream> {
    const { owner, name, users, app } = seed;
    const port = await freePort();
    const emulator = await createEmulator({
      service: 'github',
      port,
      baseUrl: publicUrl,
      seed: {
        tokens: Object.fromEntries(users.map(({ login, token }) => [token, { login, scopes: ['repo'] }])),
        github: {
          users: users.map(({ login }) => ({ login })),
          repos: [{ owner, name, auto_init: true }],
          ...(app
            ? {
                apps: [
                  {
                    app_id: app.id,
                    slug: 'tidemill',
                    name: 'Tidemill',
                    private_key: app.key,
                    permissions: {
                      checks: 'write',
                      contents: 'write',
                      issues: 'write',
                      pull_requests: 'write',
                      statuses: 'write',
                      metadata: 'read',
                    },
                    installations: [{ installation_id: app.installation, account: owner, repository_selection: 'all' }],
                  },
                ],
              }
            : {}),
        },
      },
    });
    const upstream = new Upstream(emulator, port, seed, publicUrl);
    for (const { login, access } of users)
      if (login !== owner && access !== 'none')
        await upstream.ask('PUT', `/collaborators/${login}`, { permission: access });
    return upstream;
  }

  /** As the owner, for a path inside the repository. */
  ask(method: string, inside: string, body?: unknown): Promise<Answer> {
    return this.#send(
      method,
      `${this.#path}${inside}`,
      this.#adminToken,
      body === undefined ? '' : JSON.stringify(body),
    );
  }

  pass({ method, path, query, token, body }: Asked): Promise<Answer> {
    const search = query.size ? `?${query}` : '';
    return this.#send(method, `${path}${search}`, token, body);
  }

  close(): Promise<void> {
    return this.#emulator.close();
  }

  async #send(method: string, path: string, token: string | null, body: string): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        // A connection that is kept may be closed by the emulator just when it is used again.
        connection: 'close',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      ...(body ? { body } : {}),
      redirect: 'manual',
    });
    const text = await response.text();
    const link = response.headers.get('link');
    return {
      status: response.status,
      headers: link ? { link: link.replaceAll(/http:\/\/(127\.0\.0\.1|localhost):\d+/g, this.#publicUrl) } : {},
      body: text && response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
    };
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
