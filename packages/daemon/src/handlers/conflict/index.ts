import type { Handlers } from '../handler.ts';
import { abortConflict, listConflicts, resolveFile, settleConflict, showConflict } from './conflict.ts';

export const conflictHandlers: Handlers<'conflicts'> = {
  conflicts: listConflicts,
  conflict: showConflict,
  resolveFile,
  settleConflict,
  abortConflict,
};
