import { mkdtemp } from 'node:fs/promises';
import type { AgentConfig } from '@tidemill/contract';
import { vi } from 'vitest';
import type { AgentRequest } from '../../packages/daemon/src/ports.ts';
import type { ChildHost } from '../../packages/daemon/src/process/child.ts';
import { type ResponsesServer, type ResponsesTurn, startResponsesServer } from '../support/model/responses.ts';
import { installVendor } from '../support/vendor.ts';
import { Bench, type Trial } from './agent-bench.ts';

// Real programs on a busy machine: their start alone may take seconds.
vi.setConfig({ testTimeout: 120_000 });

const installed = await installVendor('@openai/codex', '0.166.0', 'codex');
/** Why there is no Codex to test, or null. */
export const missing = 'missing' in installed ? installed.missing : null;

export const RESULT = { outcome: 'pr_ready', summary: 'done', open_questions: null };

interface Change extends Partial<AgentRequest> {
  config?: Partial<Extract<AgentConfig, { type: 'codex' }>>;
  /** Null: as somebody who has logged in. */
  key?: string | null;
}

/** The only model of this version that has the plain tools and a price. */
const MODEL = 'gpt-5.5';

export class CodexBench extends Bench {
  #model: ResponsesServer | undefined;

  /** Not below the temporary folder: no run is in real life. */
  static async open(sandbox: ChildHost['sandbox']): Promise<CodexBench> {
    return new CodexBench(await mkdtemp('/var/tmp/tidemill codex ü '), sandbox).lay();
  }

  /** A model that answers with these turns, or always with the one. */
  async model(script: ResponsesTurn[] | ResponsesTurn): Promise<ResponsesServer> {
    this.#model = await startResponsesServer(script);
    return this.#model;
  }

  override async close(): Promise<void> {
    await this.#model?.stop();
    await super.close();
  }

  start(url: string, { config = {}, key = 'dummy', ...request }: Change = {}): Trial {
    const program = 'program' in installed ? installed.program : undefined;
    const env = { OPENAI_BASE_URL: `${url}/v1`, HOME: this.base, ...(key === null ? {} : { OPENAI_API_KEY: key }) };
    const usual = { program, model: MODEL, pass: [], writable: [], fallback: [], env };
    return this.try({ default: { type: 'codex', ...usual, ...config } }, request);
  }
}
