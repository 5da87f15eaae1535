import type { Handlers } from '../handler.ts';
import { listComingConflicts } from './coming.ts';
import { abortConflict, listConflicts, resolveFile, settleConflict, showConflict } from './conflict.ts';

export const conflictHandlers: Handlers<'conflicts'> = {
  conflicts: listConflicts,
  comingConflicts: listComingConflicts,
  conflict: showConflict,
  resolveFile,
  settleConflict,
  abortConflict,
};
