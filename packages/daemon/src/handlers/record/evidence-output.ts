import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Evidence } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { removalText } from './removed-log.ts';

/**
 * Compares the stored output of gates with the hashes in their receipts. Housekeeping removes old output, and with a
 * shared store it is on another host; the receipts hold without it. Output that differs from its receipt is a fault.
 */
export async function outputOf(services: Services, links: Evidence[]): Promise<{ ok: boolean; text: string }> {
  const stored: string[] = [];
  const changed: string[] = [];
  const missing: string[] = [];
  for (const { gate, logHash } of links) {
    // The value becomes part of a path, so only a hash is accepted.
    if (!/^[0-9a-f]{64}$/.test(logHash)) continue;
    const found = await hashOf(services.machine.folder.gateLog(logHash));
    if (found === logHash) stored.push(gate);
    else if (found !== null) changed.push(gate);
    else {
      const removed = await removalText(services, 'gates', logHash);
      missing.push(`the log of ${gate} ${removed === null ? 'is not in this data folder' : `was ${removed}`}`);
    }
  }
  if (changed.length > 0) return { ok: false, text: `the output of ${changed.join(', ')} was changed afterwards` };
  const kept = stored.length > 0 ? [`stored as it was recorded: ${stored.join(', ')}`] : [];
  return { ok: true, text: [...kept, ...missing].join('; ') || 'these gates have no output' };
}

async function hashOf(file: string): Promise<string | null> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return hash.digest('hex');
}
