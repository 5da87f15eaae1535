import type { ChangeSize, ComingConflict, EventBody, Task } from '@tidemill/contract';
import { findTask } from '../check-fence.ts';
import type { CommandOf, Decision } from '../command.ts';
import { accept } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import type { ComparedWork } from './commands.ts';
import { isLarger } from './larger.ts';

/** Files that are named in an entry; their number is always complete. */
const MOST_FILES = 20;
const NOTHING: ChangeSize = { files: 0, lines: 0 };

/**
 *   both sides changed ──git cannot merge them──▶ in the rows of both tasks ──they merge again, or one ends──▶ removed
 * Each task has its own entry and its own event. The rows are locked, so that an entry is never in one of them only.
 */
export function recordForecast(slice: Slice, command: CommandOf<'forecast.record'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  const size = command.size ?? NOTHING;
  // A newer commit is compared by itself.
  if (isUnlanded(task) && task.head?.commit !== command.commit) return accept();
  return accept(
    ...command.compared.flatMap((other) =>
      other.taskId === null
        ? changed(task, null, isUnlanded(task) ? other.files : [], { size, otherSize: null })
        : withTask(slice, task, size, other as ComparedWork & { taskId: string }),
    ),
  );
}

function withTask(
  slice: Slice,
  task: Task,
  size: ChangeSize,
  compared: ComparedWork & { taskId: string },
): EventBody[] {
  const other = slice.tasks.get(compared.taskId);
  if (!other || other.projectId !== task.projectId || other.id === task.id) return [];
  const areBoth = isUnlanded(task) && isUnlanded(other);
  if (areBoth && other.head?.commit !== compared.commit) return [];
  const files = areBoth ? compared.files : [];
  const otherSize = compared.size ?? NOTHING;
  return [
    ...changed(task, other, files, { size, otherSize }),
    ...changed(other, task, files, { size: otherSize, otherSize: size }),
  ];
}

/** Is there a change that may still land? */
const isUnlanded = ({ head, stage }: Task) => head !== null && stage !== 'done' && stage !== 'cancelled';

/** The event for one task's row. None if its entry says the same already. */
function changed(
  { id: taskId, number, forecast }: Task,
  other: Task | null,
  files: string[],
  sizes: Pick<ComingConflict, 'size' | 'otherSize'>,
): EventBody[] {
  const before = forecast.find((entry) => entry.taskId === (other?.id ?? null));
  const about = { taskId, otherId: other?.id ?? null, otherNumber: other?.number ?? null };
  if (files.length === 0) return before ? [{ type: 'forecast.cleared', ...about }] : [];
  const now = { files: files.slice(0, MOST_FILES), fileCount: files.length, ...sizes };
  const isFirst = (entry: Pick<ComingConflict, 'size' | 'otherSize'>) =>
    other !== null &&
    isLarger({ number, size: entry.size }, { number: other.number, size: entry.otherSize ?? NOTHING });
  const isSame =
    before !== undefined &&
    before.fileCount === now.fileCount &&
    before.files.every((file, at) => file === now.files[at]) &&
    isFirst(before) === isFirst(now);
  return isSame ? [] : [{ type: 'forecast.found', ...about, ...now }];
}
