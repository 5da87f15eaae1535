import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { openOffline } from '../../packages/daemon/src/assembly/offline.ts';
import { QUIET_CONFIG, TemporaryRepository } from '../e2e/cli-repository.ts';

/** The API as the command line has it without a daemon, on a repository and data of its own. */
export class OfflineBed {
  readonly home = mkdtempSync(join(tmpdir(), 'tidemill-offline-'));
  readonly repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  readonly env = { TIDEMILL_HOME: this.home };
  api!: Api;
  project = '';
  #offline!: { api: Api; close(): Promise<void> };

  static async open(): Promise<OfflineBed> {
    const bed = new OfflineBed();
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
