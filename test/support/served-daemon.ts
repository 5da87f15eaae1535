import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { Daemon, type DaemonOptions } from '../../packages/daemon/src/assembly/daemon.ts';
import { QUIET_CONFIG, TemporaryRepository } from '../e2e/cli-repository.ts';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** Below fetch, which would normalise the path, choose the Host and check certificates. */
export function ask(url: string, path: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  const { hostname, port, protocol } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const options = { host: hostname, port, path, method, headers, rejectUnauthorized: false, agent: false as const };
  const sent = (protocol === 'https:' ? tlsRequest : request)(options, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    response.on('error', reject);
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

/** A daemon in this process, with a registered repository that it does not work on. */
export class ServedDaemon {
  readonly home: string;
  readonly repository: TemporaryRepository;
  daemon!: Daemon;
  token = '';
  api!: Api;
  project = '';

  static async start(options: Partial<DaemonOptions> = {}): Promise<ServedDaemon> {
    const served = new ServedDaemon();
    await served.restart(options);
    return served;
  }

  protected constructor(files: Record<string, string> = {}) {
    this.home = mkdtempSync(join(tmpdir(), 'tidemill-served-'));
    this.repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG, ...files });
  }

  get url(): string {
    return this.daemon.info.url;
  }

  /** Stops the daemon that runs, if any, and starts another one on the same data. */
  async restart(options: Partial<DaemonOptions> = {}): Promise<void> {
    await this.daemon?.stop({ now: true });
    this.daemon = await Daemon.start({ env: { TIDEMILL_HOME: this.home }, port: 0, ...options });
    this.token = JSON.parse(readFileSync(join(this.home, 'daemon.json'), 'utf8')).token;
    this.api = createClient({ url: this.url, token: this.token });
    this.project = (await this.api.registerProject({ root: this.repository.root })).id;
  }

  /** A request with the daemon's own token, unless the headers say otherwise. */
  ask(path: string, { headers = {}, ...sent }: Sent = {}): Promise<Answer> {
    const own = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
    return ask(this.url, path, { ...sent, headers: { ...own, ...headers } });
  }

  async close(): Promise<void> {
    await this.daemon.stop({ now: true });
    this.repository.remove();
    rmSync(this.home, { recursive: true, maxRetries: 5 });
  }
}
