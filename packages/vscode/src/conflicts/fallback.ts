import type { ConflictDetail, ConflictFile } from '@tidemill/contract';

const FORMS: Record<ConflictFile['form'], string> = {
  text: '',
  binary: ', binary',
  large: ', larger than 1 MB',
  symlink: ', a symbolic link',
  submodule: ', a submodule',
};

/** The same steps for a terminal, for a conflict that the merge editor cannot show. */
export function fallbackText(
  { number, title, target, files, commands, worktree }: ConflictDetail,
  why: string,
): string {
  const open = files.filter(({ isResolved }) => !isResolved);
  return [
    `# Resolve the conflict of #${number} with git`,
    '',
    `${why} These commands do the same in a terminal.`,
    '',
    `Task: #${number} ${title}`,
    `Target: ${target}`,
    `Worktree: ${worktree}`,
    '',
    'Files that are not resolved:',
    ...(open.length === 0
      ? ['- none']
      : open.map(({ path, form, kind }) => `- ${path} (${kind.replaceAll('_', ' ')}${FORMS[form]})`)),
    '',
    '```sh',
    ...commands,
    '```',
    '',
    'The last command is the same as *Mark resolved* in the view Conflicts.',
    '',
  ].join('\n');
}
