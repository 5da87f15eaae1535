import { copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GitContext } from './git-context.ts';
import { copyIndex } from './registered-worktree.ts';

/** The refs and settings of the repository that a clone of it would have. */
export interface CloneView {
  packedRefs: string;
  config: string;
}

/** How git treats files here. A clone on this machine would have the same. */
const FILE_SETTINGS = /^core\.(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol)$/;
const FILTER_SETTINGS = /^filter\..+\.(clean|smudge|process|required)$/s;
const EXCLUDE = '# git ls-files --others --exclude-from=.git/info/exclude\n';
const DESCRIPTION = "Unnamed repository; edit this file 'description' to name the repository.\n";

/** Where git writes when one of them changes. */
const SOURCES = ['config', 'packed-refs', 'refs/tags', 'refs/remotes/origin', 'reftable/tables.list'];
/** A tag in a folder of tags changes none of these places. */
const VALID_MS = 20_000;
const known = new WeakMap<GitContext, { mark: string; until: number; view: Promise<CloneView> }>();

/** Asks git only when something changed, because every proof needs it. */
export async function cloneView(context: GitContext): Promise<CloneView> {
  const stats = await Promise.all(SOURCES.map((name) => stat(join(context.info.commonDir, name)).catch(() => null)));
  const mark = stats.map((found) => (found ? `${found.ino} ${found.mtimeMs} ${found.size}` : '')).join();
  const last = known.get(context);
  if (last?.mark === mark && last.until > context.clock.now()) return last.view;
  const view = viewClone(context);
  known.set(context, { mark, until: context.clock.now() + VALID_MS, view });
  view.catch(() => known.delete(context));
  return view;
}

/** Tags, and the target as its remotes have it. Branches of tasks and refs of the engine are left out. */
async function viewClone(context: GitContext): Promise<CloneView> {
  const { target } = context.options;
  const wanted = ['refs/tags', `refs/remotes/*/${target}`];
  const [refs, settings] = await Promise.all([
    context.git(['for-each-ref', '--format=%(objectname) %(refname)%00%(*objectname)', ...wanted]),
    context.git(['config', '--local', '--list', '-z'], { answers: [1] }),
  ]);
  const lines = refs.stdout.split('\n').filter((line) => line !== '' && !line.includes('refs/tags/tidemill'));
  const packed = lines.map((line) => {
    const [ref = '', peeled = ''] = line.split('\0');
    return peeled === '' ? ref : `${ref}\n^${peeled}`;
  });
  return {
    packedRefs: ['# pack-refs with: peeled fully-peeled sorted ', ...packed, ''].join('\n'),
    config: configText(settings.stdout.split('\0'), target),
  };
}

/** Settings of a fresh clone, with those of the repository that say how files are written. */
function configText(listed: string[], target: string): string {
  const entries = new Map(
    listed.flatMap((entry) => {
      const end = entry.indexOf('\n');
      return end < 0 ? [] : [[entry.slice(0, end), entry.slice(end + 1)] as const];
    }),
  );
  const kept = [...entries].filter(([key]) => FILE_SETTINGS.test(key) || FILTER_SETTINGS.test(key));
  const format = entries.get('extensions.objectformat');
  const lines = [
    '[core]',
    `\trepositoryformatversion = ${format === undefined ? 0 : 1}`,
    ...(entries.has('core.filemode') ? [] : ['\tfilemode = true']),
    '\tbare = false',
    '\tlogallrefupdates = true',
    ...kept.flatMap(([key, value]) => settingLines(key, value)),
    ...(format === undefined ? [] : settingLines('extensions.objectformat', format)),
    ...[...entries.keys()].flatMap((key) => {
      const remote = /^remote\.(.+)\.url$/s.exec(key)?.[1];
      if (remote === undefined) return [];
      const url = (entries.get(key) ?? '').replace(/^(\w[\w+.-]*:\/\/)[^/@]*@/, '$1');
      return [
        ...settingLines(`remote.${remote}.url`, url),
        ...settingLines(`remote.${remote}.fetch`, `+refs/heads/*:refs/remotes/${remote}/*`),
        ...(remote === 'origin'
          ? [
              ...settingLines(`branch.${target}.remote`, remote),
              ...settingLines(`branch.${target}.merge`, `refs/heads/${target}`),
            ]
          : []),
      ];
    }),
  ];
  return `${lines.join('\n')}\n`;
}

function settingLines(key: string, value: string): string[] {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  const part = first === last ? '' : ` ${quoted(key.slice(first + 1, last))}`;
  return [`[${key.slice(0, first)}${part}]`, `\t${key.slice(last + 1)} = ${quoted(value)}`];
}

const quoted = (text: string) =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;

/**
 * Gives the folder a `.git` as `git clone` makes it: the target's branch, checked out at the commit. It is for the gates
 * only, and made again before each use. The engine's own git uses another folder (`Standing.admin`), so nothing that a
 * gate writes into this one is ever read by it. Objects are borrowed, so nothing is copied.
 */
export async function makeClone(
  context: GitContext,
  { path, index }: { path: string; index: string },
  commit: string,
  { packedRefs, config }: CloneView,
): Promise<void> {
  const git = join(path, '.git');
  await rm(git, { recursive: true, force: true, maxRetries: 3 });
  const branch = join(git, context.targetRef);
  const folders = ['objects/info', 'objects/pack', 'refs/tags', 'info', 'hooks'].map((name) => join(git, name));
  await Promise.all([dirname(branch), ...folders].map((folder) => mkdir(folder, { recursive: true })));
  const texts = {
    HEAD: `ref: ${context.targetRef}\n`,
    config,
    description: DESCRIPTION,
    'packed-refs': packedRefs,
    'info/exclude': EXCLUDE,
    'objects/info/alternates': `${join(context.info.commonDir, 'objects')}\n`,
  };
  await Promise.all([
    writeFile(branch, `${commit}\n`),
    ...Object.entries(texts).map(([name, text]) => writeFile(join(git, name), text)),
    copyFile(join(context.info.commonDir, 'shallow'), join(git, 'shallow')).catch(ifMissing),
    // For gates that use git: their index matches ours.
    copyIndex(index, join(git, 'index')),
  ]);
}

/** Most repositories are not shallow. */
function ifMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
