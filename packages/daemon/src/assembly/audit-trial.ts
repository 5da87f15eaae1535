import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GateConfig } from '@tidemill/contract';
import type { AuditTrial } from '../config/protection.ts';
import { createGates } from '../gates/gates.ts';

/** Longer than a registry takes to answer. */
const LIMIT = '20s';

/** Asks the registry once, as the gate will: in the sandbox, with its small environment. */
export const auditTrial =
  (root: string): AuditTrial =>
  async (run) => {
    const folder = await mkdtemp(join(tmpdir(), 'tidemill-audit-'));
    try {
      const config = [GateConfig.parse({ name: 'audit', kind: 'audit', run, timeout: LIMIT })];
      const host = { root, dataDir: folder, homeId: 'init', sandbox: 'auto' as const };
      const gates = createGates({ config, host, logDir: join(folder, 'logs') });
      const { signal } = new AbortController();
      const [report] = await gates.run({ path: root, tree: '', files: null, signal });
      return report?.receipt.status === 'pass';
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  };
