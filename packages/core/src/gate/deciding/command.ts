import type { CheckCommand } from './changed-file.ts';
import { nameOf } from './names.ts';

/** Programs that only read their arguments and do not run them. */
const READERS = new Set(['test', '[', 'grep', 'ls', 'stat', 'find', 'echo', 'printf', 'cat', 'wc', 'head', 'tail']);
const MOST_MANIFESTS = 20;
const MOST_WORDS = 300;
/** Folders with programs of the project: files beside a gate's script are usually part of it. */
const PROGRAM_FOLDERS = /^\.?(scripts?|ci|tools?|bin|hack|tasks?|build|dev|etc|make)$/i;

/** The words of a command, without those that are only read. */
function wordsOf(command: string): string[] {
  return command.split(/[;&|\n]+/).flatMap((part) => {
    const words = part.split(/[\s"'`=,()<>{}]+/).filter((word) => word !== '');
    const program = words.find((word) => !/^(!|env|time|exec|command|sudo|if|then|do|else|while)$/.test(word));
    return program !== undefined && READERS.has(nameOf(program)) ? [] : words;
  });
}

const plain = (word: string) => word.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
const isPath = (word: string) => word !== '' && !/^[-/~$]|[*?[\]$\\]|(^|\/)\.\.(\/|$)|:\/\//.test(word);

/** Where the package scripts that gates call may be defined. */
export function manifestsOf(checks: readonly CheckCommand[]): string[] {
  const folders = checks.flatMap(({ run }) => wordsOf(run).map(plain)).filter(isPath);
  return ['package.json', ...new Set(folders.map((folder) => `${folder}/package.json`))].slice(0, MOST_MANIFESTS);
}

export interface NamedPaths {
  /** Every path that a command could mean, with the gate or the step that names it, in words. */
  files: Map<string, string>;
  /** Folders of the project's own programs that contain one of these files. */
  folders: Map<string, string>;
}

/** Paths in the commands of gates and in the package scripts they call. */
export function namedPaths(checks: readonly CheckCommand[], manifests: ReadonlyMap<string, string>): NamedPaths {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const { name, run, of } of checks) {
    const by = of === 'prepare' ? `the prepare step \`${name}\`` : `gate ${name}`;
    const words = [...new Set(withScripts(wordsOf(run), manifests))].map(plain).filter(isPath).slice(0, MOST_WORDS);
    for (const word of words) {
      note(files, word, by);
      // `cd folder && ./check.sh`, `make -C folder`
      for (const folder of words) if (folder !== word) note(files, `${folder}/${word}`, by);
    }
  }
  for (const [file, gate] of files) {
    const parts = file.split('/').slice(0, -1);
    const last = parts.findIndex((part) => PROGRAM_FOLDERS.test(part));
    if (last >= 0) note(folders, `${parts.slice(0, last + 1).join('/')}/`, gate);
  }
  return { files, folders };
}

const note = (map: Map<string, string>, key: string, gate: string) => {
  if (!map.has(key)) map.set(key, gate);
};

/** The words and those of each package script that one of them names. */
function withScripts(words: string[], manifests: ReadonlyMap<string, string>): string[] {
  const scripts = [...manifests.values()].flatMap((text) => Object.entries(scriptsOf(text)));
  const all = new Set(words);
  const followed = new Set<number>();
  for (let isMore = true; isMore; ) {
    isMore = false;
    scripts.forEach(([name, command], index) => {
      const isCalled = all.has(name) || all.has(name.replace(/^(pre|post)/, '')) || (name === 'test' && all.has('t'));
      if (!isCalled || followed.has(index)) return;
      followed.add(index);
      for (const word of wordsOf(command)) all.add(word);
      isMore = true;
    });
  }
  return [...all];
}

function scriptsOf(text: string): Record<string, string> {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: unknown };
    if (typeof scripts !== 'object' || scripts === null) return {};
    return Object.fromEntries(Object.entries(scripts).filter(([, value]) => typeof value === 'string'));
  } catch {
    // A manifest that cannot be read has no scripts. A change of it is reported in any case.
    return {};
  }
}
