import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AgentConfig } from '@tidemill/contract';
import type { AgentRequest } from '../../packages/daemon/src/ports.ts';
import type { ChildHost } from '../../packages/daemon/src/process/child.ts';
import {
  type MessagesScript,
  type MessagesServer,
  startMessagesServer,
  structured,
} from '../support/model/messages.ts';
import { Bench, type Trial } from './agent-bench.ts';

export const DONE = structured({ outcome: 'pr_ready', summary: 'done' });
export const done = { kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } };

/** What the person's own Claude Code keeps in `.credentials.json` after they logged in with a subscription. */
export const login = (token: string) =>
  JSON.stringify({
    claudeAiOauth: {
      accessToken: token,
      refreshToken: 'r',
      expiresAt: Date.now() + 8 * 3_600_000,
      scopes: ['user:inference', 'user:profile'],
      subscriptionType: 'max',
    },
  });

interface Change extends Partial<AgentRequest> {
  config?: Partial<Extract<AgentConfig, { type: 'claude' }>>;
}

/** Claude Code is the one on PATH, unless another is configured. */
export class ClaudeBench extends Bench {
  readonly home = path.join(this.base, 'home');
  readonly #servers: MessagesServer[] = [];

  static async open(sandbox: ChildHost['sandbox']): Promise<ClaudeBench> {
    const bench = await new ClaudeBench(await mkdtemp(path.join(tmpdir(), 'tidemill claude ü ')), sandbox).lay();
    await mkdir(bench.home);
    return bench;
  }

  /** A model that answers by this script, for as long as the bench is open. */
  async model(script: MessagesScript): Promise<MessagesServer> {
    const server = await startMessagesServer(script);
    this.#servers.push(server);
    return server;
  }

  start(url: string, { config = {}, ...request }: Change = {}): Trial {
    const { env, ...given } = config;
    return this.try(
      {
        default: {
          type: 'claude',
          pass: [],
          writable: [],
          fallback: [],
          ...given,
          env: {
            HOME: this.home,
            ANTHROPIC_BASE_URL: url,
            ANTHROPIC_API_KEY: 'dummy',
            CLAUDE_CODE_MAX_RETRIES: '1',
            CLAUDE_CONFIG_DIR: path.join(this.home, '.claude'),
            ...env,
          },
        },
      },
      request,
    );
  }

  override async close(): Promise<void> {
    await Promise.all(this.#servers.splice(0).map((server) => server.stop()));
    await super.close();
  }
}
