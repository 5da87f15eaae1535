import type { Evidence } from '@tidemill/contract';
import { z } from 'zod';
import { shown, told } from '../reply.ts';
import { AGENTS, READERS } from '../roles.ts';
import { tool } from '../tool.ts';

export const evidenceTool = tool(
  'evidence',
  'Receipts of gates that Tidemill ran itself: gate, result, counts, commit tree. Their output: search_logs',
  {
    roles: [...READERS, ...AGENTS],
    input: {
      task: z.coerce.number<number>().int().positive().optional(),
      limit: z.number().int().min(1).max(100).default(20),
      cursor: z.coerce.number<number>().int().optional(),
    },
  },
  async ({ session, signal }, { task, limit, cursor, projectRoot }) => {
    const project = (await session.projectOf(projectRoot)).id;
    const found = await session.api.evidence(
      { project, limit: limit + 1, ...(task && { task }), ...(cursor !== undefined && { afterPosition: cursor }) },
      signal,
    );
    if (found.length === 0) return told('There is no evidence.');
    const page = found.slice(0, limit);
    const more = found.length > limit ? ` More with cursor ${page.at(-1)!.position}.` : '';
    return shown(`${page.length} receipts, oldest first.${more}`, page.map(line).join('\n'));
  },
);

function line({ id, gate, status, exitCode, counts, durationMs, tree, attempt }: Evidence): string {
  const figures = counts ? ` ${counts.passed} passed ${counts.failed} failed ${counts.skipped} skipped` : '';
  const again = attempt > 1 ? ' second try' : '';
  return `${id} ${gate} ${status}${exitCode === null ? '' : ` exit ${exitCode}`}${figures} ${(durationMs / 1000).toFixed(1)}s tree ${tree.slice(0, 12)}${again}`;
}
