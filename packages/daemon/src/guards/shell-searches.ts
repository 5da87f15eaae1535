import type { Access } from './access.ts';
import type { SimpleCommand } from './shell-command.ts';
import { ALL_NAMES, findRoots } from './shell-wrappers.ts';
import { type Sweep, sweptFiles } from './sweep.ts';

/** Options of grep, rg, ag and ack that take the next word as their value. */
const VALUED =
  /^(-[ABCEMTdgjmrt]|-[a-zA-Z]*[ef]|--(after|before)-context|--context|--glob|--iglob|--type(-not)?|--include(-dir)?|--exclude(-dir|-from)?|--max-count|--max-depth|--max-columns|--regexp|--file|--replace|--sort|--sortr|--threads|--encoding|--color|--colors|--pre)$/;
const ONLY = /^(-g|--i?glob|--include)$/;

type Touched = Pick<Access, 'path' | 'kind' | 'isSwept'>;

const swept = (sweep: Sweep): Touched[] => sweptFiles(sweep).map((path) => ({ path, kind: 'read', isSwept: true }));

/** What a search program reads: the files it names, and the files in the folders it names, without those it excludes. */
export function searchTouches({ name, args, cwd }: SimpleCommand): Touched[] {
  const { plain, options } = parted(args);
  const values = (pattern: RegExp) => options.flatMap(({ option, value }) => (pattern.test(option) ? [value] : []));
  const hasOwnPattern = values(/^(-[a-zA-Z]*[ef]|--regexp|--file)$/).length > 0 || args.includes('--files');
  const files = hasOwnPattern ? plain : plain.slice(1);
  const patternFiles = values(/^(-[a-zA-Z]*f|--file)$/);
  const named: Touched[] = [...files, ...patternFiles].map((path) => ({ path, kind: 'read' }));
  const isGrep = name.endsWith('grep');
  if (isGrep && !args.some((arg) => /^-[a-zA-Z]*[rR]|^--(dereference-)?recursive$/.test(arg))) return named;
  if (values(/^(-t|--type)$/).length > 0) return named;
  const globs = values(ONLY);
  const unrestricted = args.join(' ').match(/(?<=(^| )-[a-zA-Z]*)u/g)?.length ?? 0;
  const sweep: Sweep = {
    folders: files.length > 0 ? files : ['.'],
    cwd,
    only: globs.filter((glob) => !glob.startsWith('!')),
    except: [...globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1)), ...values(/^--exclude$/)],
    skipsHidden: !isGrep && unrestricted < 2 && !args.some((arg) => /^(--hidden|-\.|--unrestricted)$/.test(arg)),
    skipsIgnored: !isGrep && unrestricted < 1 && !args.some((arg) => /^--no-ignore/.test(arg)),
  };
  return [...named, ...swept(sweep)];
}

/** `git grep` searches all files that git tracks, unless it names some. */
export function gitGrepTouches(args: string[], cwd: string): Touched[] {
  const end = args.indexOf('--');
  const { plain, options } = parted(end < 0 ? args : args.slice(0, end));
  const hasOwnPattern = options.some(({ option }) => /^(-[a-zA-Z]*[ef])$/.test(option));
  const paths = end < 0 ? plain.slice(hasOwnPattern ? 0 : 1) : args.slice(end + 1);
  const isLeftOut = (path: string) => /^:[!^]|^:\(exclude\)/.test(path);
  const only = paths.filter((path) => !isLeftOut(path));
  const except = paths.filter(isLeftOut).map((path) => path.replace(/^:([!^]|\(exclude\))/, ''));
  const globs = only.filter((path) => /[*?[]/.test(path));
  const folders = only.filter((path) => !/[*?[]/.test(path));
  return [
    ...folders.map((path) => ({ path, kind: 'read' as const })),
    ...swept({ folders: folders.length > 0 ? folders : ['.'], cwd, only: globs, except, skipsIgnored: true }),
  ];
}

/** The files that `find` passes to another program. */
export function findSweep(args: string[], cwd: string): Touched[] {
  const named = args.flatMap((arg, index) => {
    if (!/^-i?(name|path|wholename)$/.test(args[index - 1] ?? '')) return [];
    return [{ glob: arg, isLeftOut: args[index - 2] === '!' || args[index - 2] === '-not' }];
  });
  const globs = (isLeftOut: boolean) =>
    named.filter((each) => each.isLeftOut === isLeftOut).map(({ glob }) => glob.replace(/^\*\//, '**/'));
  return swept({ folders: findRoots(args), cwd, only: globs(false), except: globs(true) });
}

/** `git ls-files | xargs cat`: all files. */
export const nameSweep = (paths: string[], cwd: string): Touched[] =>
  paths.includes(ALL_NAMES) ? swept({ folders: ['.'], cwd, skipsIgnored: true }) : [];

/** Its words, and its options with their values: `-g x`, `-gx`, `--glob x`, `--glob=x`. */
function parted(args: string[]): { plain: string[]; options: { option: string; value: string }[] } {
  const plain: string[] = [];
  const options: { option: string; value: string }[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as string;
    const [, long, given] = /^(--[\w-]+)=(.*)$/s.exec(arg) ?? /^(-g)(.+)$/s.exec(arg) ?? [];
    if (arg === '--') {
      plain.push(...args.slice(index + 1));
      break;
    }
    if (long !== undefined) options.push({ option: long, value: given ?? '' });
    else if (VALUED.test(arg) && index + 1 < args.length) {
      options.push({ option: arg, value: args[index + 1] as string });
      index += 1;
    } else if (!/^-./.test(arg)) plain.push(arg);
  }
  return { plain, options };
}
