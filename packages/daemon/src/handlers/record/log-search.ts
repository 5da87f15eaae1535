import { type FileHandle, open } from 'node:fs/promises';
import { AppError, type Evidence, type LogSearch, type Project, type RouteRequest, type Run } from '@tidemill/contract';
import type { OutputKind } from '../../ports.ts';
import type { Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';
import { scanLog } from './log-scan.ts';
import { removalText } from './removed-log.ts';

/** Of a task with many runs and receipts, the newest logs are searched. */
const MOST_LOGS = 20;

interface Log {
  kind: 'run' | 'gate';
  id: string;
  label: string;
  /** Null: the receipt names no output. */
  output: { kind: OutputKind; id: string; file: string } | null;
}

/** Searches the output of runs and gates where it is, so that a large log never has to be sent. */
export async function searchLog(
  services: Services,
  input: RouteRequest<'searchLog'>,
  signal: AbortSignal,
): Promise<LogSearch[]> {
  const project = await projectOf(services, input.project);
  const logs = await logsOf(services, project, input);
  if (logs.length > 1 && input.from > 0)
    throw new AppError('bad_input', '`from` is a place in one log', { hint: 'Name the run or the evidence.' });
  const found: LogSearch[] = [];
  let left = input.limit;
  for (const log of logs) {
    const hits = await searchOne(services, log, { ...input, limit: left }, signal);
    left -= hits.lines.length;
    found.push(hits);
  }
  return found;
}

async function logsOf(services: Services, project: Project, input: RouteRequest<'searchLog'>): Promise<Log[]> {
  const { folder } = services.machine;
  if (input.run === undefined ? (input.task ?? input.evidence) === undefined : input.evidence !== undefined)
    throw new AppError('bad_input', 'name a task, a run or a receipt', {
      hint: '`tidemill task show NUMBER` lists the runs and the evidence of a task.',
    });
  const ofRun = ({ id, mode }: Run): Log => ({
    kind: 'run',
    id,
    label: mode,
    output: { kind: 'runs', id, file: folder.runLog(id) },
  });
  const ofEvidence = ({ id, gate, logHash }: Evidence): Log => ({
    kind: 'gate',
    id,
    label: gate,
    // The value becomes part of a path, so only a hash is accepted.
    output: /^[0-9a-f]{64}$/.test(logHash) ? { kind: 'gates', id: logHash, file: folder.gateLog(logHash) } : null,
  });
  const missing = (what: string) =>
    new AppError('not_found', `there is no ${what} in ${project.name}`, {
      hint: '`tidemill task show NUMBER` lists the runs and the evidence of a task.',
    });
  const task = input.task === undefined ? null : await taskOf(services, project, input.task);
  const isElsewhere = (subject: string) => task !== null && subject !== task.id;
  if (input.run !== undefined) {
    const run = await services.store.run(input.run);
    if (run?.projectId !== project.id || isElsewhere(run.subjectId)) throw missing(`run "${input.run}"`);
    return [ofRun(run)];
  }
  if (input.evidence !== undefined) {
    const link = await services.store.evidenceById(input.evidence);
    if (link?.projectId !== project.id || isElsewhere(link.taskId)) throw missing(`evidence "${input.evidence}"`);
    return [ofEvidence(link)];
  }
  const [runs, evidence] = await Promise.all([
    services.store.runs(task!.id),
    services.store.evidence({ projectId: project.id, taskId: task!.id }),
  ]);
  return [...evidence.toReversed().map(ofEvidence), ...runs.toReversed().map(ofRun)].slice(0, MOST_LOGS);
}

async function searchOne(
  services: Services,
  { kind, id, label, output }: Log,
  query: RouteRequest<'searchLog'>,
  signal: AbortSignal,
): Promise<LogSearch> {
  const none = (note: string): LogSearch => ({ kind, id, label, bytes: 0, matches: 0, lines: [], next: null, note });
  if (!output) return none('its output is not stored');
  let handle: FileHandle;
  try {
    handle = await open(output.file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    const removed = await removalText(services, output.kind, output.id);
    return none(removed === null ? 'it has no output' : `its output was ${removed}`);
  }
  try {
    return { kind, id, label, note: null, ...(await scanLog(handle, query, signal)) };
  } finally {
    await handle.close();
  }
}
