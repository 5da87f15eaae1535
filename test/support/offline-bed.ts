import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { openOffline } from '../../packages/daemon/src/assembly/offline.ts';
import { QUIET_CONFIG, TemporaryRepository } from '../e2e/cli-repository.ts';

/** The API as the command line has it without a daemon, on a repository and data of its own. */
export class OfflineBed {
  readonly home = mkdtempSync(join(tmpdir(), 'tidemill-offline-'));
  readonly repository: TemporaryRepository;
  readonly env = { TIDEMILL_HOME: this.home };
  api!: Api;
  project = '';
  #offline!: { api: Api; close(): Promise<void> };

  private constructor(config: string) {
    this.repository = new TemporaryRepository({ '.tidemill/config.yaml': config });
  }

  static async open(config = QUIET_CONFIG): Promise<OfflineBed> {
    const bed = new OfflineBed(config);
    bed.#offline = await openOffline(bed.env);
    bed.api = bed.#offline.api;
    bed.project = (await bed.api.registerProject({ root: bed.repository.root })).id;
    return bed;
  }

  async close(): Promise<void> {
    await this.#offline.close();
    this.repository.remove();
    rmSync(this.home, { recursive: true, maxRetries: 5 });
  }
}
