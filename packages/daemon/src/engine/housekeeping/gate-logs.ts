import type { Store } from '../../ports.ts';
import type { FileOwner } from './choice.ts';
import type { Tasks } from './tasks.ts';

const PAGE = 500;
/** A log that more receipts share is empty or nearly so: it is kept. */
const MOST_RECEIPTS = 100;

interface ReceiptRef {
  projectId: string;
  taskId: string;
  id: string;
  hash: string;
}

/** The owners of these gate logs, by hash. A log may belong to several receipts, also of several projects. */
export async function ownersOfGateLogs(
  store: Store,
  tasks: Tasks,
  hashes: ReadonlySet<string>,
): Promise<Map<string, FileOwner>> {
  const receipts = new Map<string, ReceiptRef[]>();
  for (const { id: projectId } of await store.projects())
    for (let afterPosition = 0; ; ) {
      await tasks.turn();
      const page = await store.evidence({ projectId, afterPosition, limit: PAGE });
      for (const { logHash, taskId, id, hash } of page) {
        if (!hashes.has(logHash)) continue;
        const known = receipts.get(logHash) ?? [];
        if (known.length <= MOST_RECEIPTS) receipts.set(logHash, [...known, { projectId, taskId, id, hash }]);
      }
      afterPosition = page.at(-1)?.position ?? afterPosition;
      if (page.length < PAGE) break;
    }
  const owners = new Map<string, FileOwner>();
  for (const logHash of hashes) owners.set(logHash, await ownerOf(tasks, receipts.get(logHash) ?? []));
  return owners;
}

async function ownerOf(tasks: Tasks, receipts: ReceiptRef[]): Promise<FileOwner> {
  // A gate that was tried on the target, or whose receipt was never recorded: nobody asks for its log.
  if (receipts.length === 0) return { projectId: null, endedAt: 0, isLanded: false };
  const { projectId } = receipts[0]!;
  if (receipts.length > MOST_RECEIPTS) return { projectId, endedAt: null, isLanded: false };
  let endedAt: number | null = 0;
  let isLanded = false;
  for (const { taskId, id, hash } of receipts) {
    const ended = await tasks.endedAt(taskId);
    endedAt = endedAt === null || ended === null ? null : Math.max(endedAt, ended);
    const landed = await tasks.landedEvidence(taskId);
    isLanded ||= landed.has(id) || landed.has(hash);
  }
  return { projectId, endedAt, isLanded };
}
