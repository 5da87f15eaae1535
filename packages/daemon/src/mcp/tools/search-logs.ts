import { AppError, type LogSearch } from '@tidemill/contract';
import { z } from 'zod';
import { searchFile } from '../log-file.ts';
import { count, shown, told } from '../reply.ts';
import { AGENTS, READERS } from '../roles.ts';
import { tool } from '../tool.ts';

export const searchLogsTool = tool(
  'search_logs',
  'Searches large output where it is: the runs and gates of a task, one run, one receipt, or a log file. Returns matching lines, a count or the end, never the whole',
  {
    roles: [...READERS, ...AGENTS],
    input: {
      task: z.coerce.number<number>().int().positive().optional(),
      run: z.string().max(200).optional(),
      evidence: z.string().max(200).optional(),
      path: z.string().max(4096).optional().describe('A file in the project'),
      words: z.string().max(300).default('').describe('All must be in the line'),
      mode: z.enum(['lines', 'count', 'tail']).default('lines'),
      limit: z.number().int().min(1).max(200).default(20),
      cursor: z.coerce.number<number>().int().nonnegative().optional(),
    },
  },
  async ({ session, signal }, { path, mode, limit, cursor = 0, words, projectRoot, ...of }) => {
    const project = await session.projectOf(projectRoot);
    const query = { words, tail: mode === 'tail', from: cursor, limit: mode === 'count' ? 0 : limit };
    if (path !== undefined) {
      const folder = session.folderOf(project);
      if (folder === null)
        throw new AppError('forbidden', 'files cannot be searched through this connection', {
          hint: 'Search the output of a task, a run or a receipt, or run `tidemill mcp` on the machine itself.',
        });
      return replyOf([await searchFile(folder, path, query, signal)], cursor > 0 || query.tail);
    }
    const own = session.run ? { task: session.run.taskNumber ?? undefined } : {};
    const found = await session.api.searchLog({ project: project.id, ...query, ...own, ...defined(of) }, signal);
    return replyOf(found, cursor > 0 || query.tail);
  },
);

const defined = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Partial<T>;

/** Line numbers are known only from the beginning of a log. */
function replyOf(found: LogSearch[], isPart: boolean) {
  if (found.length === 0) return told('There is no output.');
  const parts = found.map(({ kind, id, label, bytes, matches, lines, next, note }) => {
    const head = `${kind} ${id} ${label}: ${note ?? `${count(matches, 'matching line')} in ${size(bytes)}`}${next === null ? '' : `, more with cursor ${next}`}`;
    return [head, ...lines.map(({ line, text }) => (isPart ? text : `${line}: ${text}`))].join('\n');
  });
  return shown(`${found.length === 1 ? 'One log' : `${found.length} logs`}.`, parts.join('\n'));
}

const size = (bytes: number) =>
  bytes < 10_000
    ? `${bytes} bytes`
    : bytes < 10_000_000
      ? `${Math.round(bytes / 1000)} kB`
      : `${Math.round(bytes / 1e6)} MB`;
