import { AppError } from '@tidemill/contract';

/** The folder of a task's worktree, by its branch: `task/12-fix-it` lies in `12-fix-it`. */
export function worktreeName(branch: string): string {
  const name = branch.replace(/^task\//, '').replaceAll('/', '-');
  if (/^[^\0/\\\s][^\0/\\]*$/.test(name) && !/^\.+$/.test(name)) return name;
  throw new AppError('bad_input', `${JSON.stringify(branch)} is not a valid task branch`, {
    hint: 'A task branch is named task/NUMBER-SLUG.',
  });
}
