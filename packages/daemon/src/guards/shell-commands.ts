import { existsSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { expandText, expandWord, type Surroundings, UNKNOWN } from './shell-expansion.ts';
import { type Part, shellTokens, type Token } from './shell-words.ts';
import { fedWords, innerWords, isShell, shellCode } from './shell-wrappers.ts';

/** One program that a shell command would start, with what is known of its words and of where it runs. */
export interface SimpleCommand {
  /** Without its folder: `rm` for `/bin/rm`. */
  name: string;
  /** As it was named. */
  program: string;
  args: string[];
  /** The variables of the environment that its words and its input are made of. */
  variables: string[];
  /** Values given for this one command: `GIT_DIR=… git status`. */
  assigned: string[];
  /** Redirections. */
  reads: string[];
  writes: string[];
  /** A here-document or here-string. */
  input: string | null;
  /** Its output goes on to another command. */
  isPiped: boolean;
  cwd: string;
  /** It runs text that cannot be known beforehand. */
  isHidden: boolean;
}

export interface ShellPlace {
  cwd: string;
  worktree: string;
  home: string;
}

const DEEPEST = 12;
const MOST_COMMANDS = 5_000;
/** Words that may stand before a command without being one. */
const SKIPPED = new Set('if then else elif fi do done while until ! { } time coproc'.split(' '));
const SETTERS = new Set(['export', 'declare', 'local', 'readonly', 'typeset']);
const RUNS_TEXT = new Set(['eval', 'trap', 'alias', 'source', '.']);
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=/;

/** Every command in a piece of shell, in order, however deep: lists, pipes, substitutions, `sh -c`, `xargs`, `find`. */
export function simpleCommands(source: string, place: ShellPlace): SimpleCommand[] {
  const walk = new Walk(place);
  walk.run(source);
  return walk.found;
}

export const commandText = ({ name, args }: SimpleCommand): string =>
  [name, ...args].join(' ').replaceAll(UNKNOWN, '$?');

class Walk {
  readonly found: SimpleCommand[] = [];
  readonly #place: ShellPlace;
  #cwd: string;
  #variables = new Map<string, string[] | null>();
  /** Those of the environment that were asked for. */
  #asked = new Set<string>();
  #depth = 0;

  constructor(place: ShellPlace) {
    this.#place = place;
    this.#cwd = place.cwd;
  }

  run(source: string): void {
    if (this.#depth >= DEEPEST) throw new Error('the command is nested too deeply');
    this.#depth += 1;
    try {
      this.#list(shellTokens(source));
    } finally {
      this.#depth -= 1;
    }
  }

  /** What happens inside does not move the shell around it. */
  #apart(work: () => void): void {
    const [cwd, variables] = [this.#cwd, this.#variables];
    this.#variables = new Map(variables);
    try {
      work();
    } finally {
      this.#cwd = cwd;
      this.#variables = variables;
    }
  }

  #list(tokens: Token[]): void {
    const outer: string[] = [];
    let words: Part[][] = [];
    let redirects: Extract<Token, { kind: 'redirect' }>[] = [];
    let before: SimpleCommand | null = null;
    let cases = 0;
    let isPattern = false;
    const flush = (operator: string) => {
      const isPiped = operator === '|' || operator === '|&';
      const made = this.#command(words, redirects, isPiped, before);
      before = isPiped ? (made ?? before) : null;
      words = [];
      redirects = [];
    };
    for (let index = 0; index < tokens.length; index += 1) {
      const token = tokens[index] as Token;
      const isTest = words.length > 0 && plainWord(words[0]) === '[[' && plainWord(words.at(-1)) !== ']]';
      if (token.kind === 'redirect') {
        if (!isTest) redirects.push(token);
        continue;
      }
      if (token.kind === 'word') {
        const word = plainWord(token.parts);
        if (words.length === 0 && word === 'esac') {
          cases = Math.max(0, cases - 1);
          isPattern = false;
        } else if (words.length > 0 || word === null || !SKIPPED.has(word)) words.push(token.parts);
        if (word === 'in' && plainWord(words[0]) === 'case') {
          flush(';');
          cases += 1;
          isPattern = true;
        }
        continue;
      }
      const { operator } = token;
      if (isTest && operator !== ';') continue;
      if (isPattern) {
        words = [];
        isPattern = operator !== ')';
      } else if (operator === '(') {
        const next = tokens[index + 1];
        const isEmpty = next?.kind === 'operator' && next.operator === ')';
        if (isEmpty && words.length > 0) {
          words = []; // a function's name: its body is looked at where it stands
          index += 1;
        } else {
          flush(';');
          outer.push(this.#cwd);
        }
      } else {
        flush(operator);
        if (operator === ')') this.#cwd = outer.pop() ?? this.#cwd;
        if (operator.startsWith(';;') || operator === ';&') isPattern = cases > 0;
      }
    }
    flush(';');
  }

  #command(
    words: Part[][],
    redirects: Extract<Token, { kind: 'redirect' }>[],
    isPiped: boolean,
    before: SimpleCommand | null,
  ): SimpleCommand | null {
    const outer = this.#asked;
    this.#asked = new Set();
    try {
      return this.#expanded(words, redirects, isPiped, before);
    } finally {
      this.#asked = outer;
    }
  }

  #expanded(
    words: Part[][],
    redirects: Extract<Token, { kind: 'redirect' }>[],
    isPiped: boolean,
    before: SimpleCommand | null,
  ): SimpleCommand | null {
    const around = this.#around();
    const first = plainWord(words[0]);
    if (first === 'for' || first === 'select') {
      const name = plainWord(words[1]) ?? '';
      const values = words.slice(3).flatMap((word) => expandWord(word, around));
      this.#variables.set(name, words.length > 3 && !values.some((value) => value.includes(UNKNOWN)) ? values : null);
      return null;
    }
    let start = first === 'function' ? 2 : 0;
    const assigned: [string, string[]][] = [];
    for (; start < words.length; start += 1) {
      const assignment = this.#assignment(words[start] as Part[]);
      if (!assignment) break;
      assigned.push(assignment);
    }
    const args = words.slice(start).flatMap((word) => expandWord(word, around));
    const made: SimpleCommand = {
      ...named(args),
      variables: [],
      assigned: assigned.flatMap(([, values]) => values),
      reads: [],
      writes: [],
      input: null,
      isPiped,
      cwd: this.#cwd,
      isHidden: false,
    };
    for (const redirect of redirects) this.#redirect(made, redirect, around);
    made.variables = [...this.#asked];
    if (args.length === 0) {
      for (const [name, values] of assigned) this.#variables.set(name, values);
      if (made.reads.length + made.writes.length > 0) this.#add(made);
      return made;
    }
    this.#start(made, before);
    return made;
  }

  #redirect(
    made: SimpleCommand,
    { operator, target, body }: Extract<Token, { kind: 'redirect' }>,
    around: Surroundings,
  ) {
    if (body) made.input = expandText(body, around).join('\n');
    else if (operator === '<<<') made.input = expandText(target, around).join('\n');
    else if (operator !== '<<' && operator !== '<<-') {
      const files = expandWord(target, around).filter((file) => !(operator.endsWith('&') && /^(\d+-?|-)$/.test(file)));
      if (operator.startsWith('<')) made.reads.push(...files);
      if (operator !== '<' && operator !== '<&') made.writes.push(...files);
    }
  }

  /** Looks through what only starts another program, and follows what changes the shell itself. */
  #start(command: SimpleCommand, before: SimpleCommand | null): void {
    const { name, args } = command;
    if (name === 'cd' || name === 'pushd') {
      this.#add(command);
      this.#cwd = this.#changed(args);
    } else if (SETTERS.has(name)) {
      for (const arg of args) {
        const [all, variable] = ASSIGNMENT.exec(arg) ?? [];
        if (all && variable) this.#variables.set(variable, known([arg.slice(all.length)]));
      }
      // Without a name they print all there is.
      if (args.every((arg) => arg.startsWith('-')) || args.some((arg) => /^-\w*p/.test(arg))) this.#add(command);
    } else if (name === 'read' || name === 'mapfile' || name === 'readarray') {
      for (const arg of args) this.#variables.set(arg, null);
      this.#add(command);
    } else if (RUNS_TEXT.has(name) || isShell(name)) {
      this.#code(command, before);
    } else if (name === 'git') this.#git(command);
    else {
      if (name === 'xargs' && args.includes('-a')) command.reads.push(args[args.indexOf('-a') + 1] ?? '');
      const inner = innerWords(name, args, before ? fedWords(before) : null);
      // `find` and `xargs` do something themselves too.
      if (inner.length === 0 || name === 'find' || name === 'fd') this.#add(command);
      else if (command.reads.length + command.writes.length > 0) this.#add({ ...command, ...named([]) });
      for (const words of inner) this.#start({ ...command, reads: [], writes: [], ...named(words) }, before);
    }
  }

  /** Text that is run as shell: looked at as such where it is known. */
  #code(command: SimpleCommand, before: SimpleCommand | null): void {
    const code = shellCode(command, before ? fedWords(before) : null);
    if (code === null || code.includes(UNKNOWN)) this.#add({ ...command, isHidden: code !== null });
    else {
      if (command.reads.length + command.writes.length > 0) this.#add({ ...command, ...named([]) });
      if (command.name === 'eval') this.run(code);
      else this.#apart(() => this.run(code));
    }
  }

  /** git's own options are taken off, so that `git -C x push` reads `git push`, running in x. */
  #git(command: SimpleCommand): void {
    let { cwd } = command;
    const args = [...command.args];
    const settings: string[] = [];
    while (args[0]?.startsWith('-')) {
      const [option = '', value] = (args.shift() as string).split(/=(.*)/s);
      const takesValue = ['-C', '-c', '--git-dir', '--work-tree', '--exec-path', '--namespace', '--config-env'];
      const given = takesValue.includes(option) ? (value ?? args.shift() ?? '') : value;
      if (option === '-C') cwd = within(cwd, given ?? '');
      else if (option === '--git-dir' || option === '--work-tree') command.assigned.push(given ?? '');
      else if (option === '-c' || option === '--config-env' || option === '--exec-path') settings.push(given ?? '');
    }
    for (const setting of settings) this.#add({ ...command, cwd, args: ['-c', setting] });
    if (cwd !== command.cwd) this.#add({ ...command, ...named(['cd', cwd]), reads: [], writes: [] });
    this.#add({ ...command, cwd, args: withMarkedFiles(args, cwd) });
  }

  #changed(args: string[]): string {
    const target = args.filter((arg) => !/^-[LPe@]+$/.test(arg) && arg !== '--')[0];
    if (target === '-') return UNKNOWN;
    return within(this.#cwd, target ?? this.#place.home);
  }

  #assignment(word: Part[]): [string, string[]] | null {
    const head = word[0];
    const found = head?.kind === 'text' && !head.quoted ? ASSIGNMENT.exec(head.text) : null;
    if (!found || head?.kind !== 'text') return null;
    const rest: Part[] = [{ ...head, text: head.text.slice(found[0].length) }, ...word.slice(1)];
    return [found[1] as string, expandText(rest, this.#around())];
  }

  #around(): Surroundings {
    const { home } = this.#place;
    return {
      cwd: this.#cwd,
      home,
      variable: (name) => {
        if (this.#variables.has(name)) return known(this.#variables.get(name) ?? null);
        if (name === 'HOME') return [home];
        if (name === 'PWD') return [this.#cwd];
        if (name === 'IFS') return [' '];
        if (/^[?#$!]$/.test(name)) return ['0'];
        this.#asked.add(name);
        return null;
      },
      command: (source) => this.#printed(source),
    };
  }

  #printed(source: string): string | null {
    const from = this.found.length;
    let cwd = this.#cwd;
    this.#apart(() => {
      this.run(source);
      cwd = this.#cwd;
    });
    const [only, ...more] = this.found.slice(from);
    if (!only || more.length > 0) return null;
    if (only.name === 'pwd') return cwd;
    if (only.name === 'git' && only.args.join(' ') === 'rev-parse --show-toplevel') return this.#place.worktree;
    return fedWords(only)?.kind === 'printed' ? only.args.filter((arg) => !/^-[neE]+$/.test(arg)).join(' ') : null;
  }

  #add(command: SimpleCommand): void {
    if (this.found.push(command) > MOST_COMMANDS) throw new Error('the command has too many parts');
  }
}

const named = ([program = '', ...args]: string[]) => ({ program, name: basename(program), args });

const known = (values: string[] | null) => (values?.some((value) => value.includes(UNKNOWN)) ? null : values);

const within = (cwd: string, target: string) =>
  target.includes(UNKNOWN) || (cwd.includes(UNKNOWN) && !isAbsolute(target)) ? UNKNOWN : resolve(cwd, target);

/** A word that is all plain text outside quotes: a keyword can be nothing else. */
function plainWord(parts: Part[] | undefined): string | null {
  const [only, ...more] = parts ?? [];
  return only?.kind === 'text' && !only.quoted && more.length === 0 ? only.text : null;
}

/** `git checkout a.ts` restores a file and `git checkout main` switches: told apart as git does, by what is there. */
function withMarkedFiles(args: string[], cwd: string): string[] {
  if (args[0] !== 'checkout' || args.includes('--')) return args;
  const names = args.slice(1).filter((arg) => !arg.startsWith('-'));
  const flags = args.slice(1).filter((arg) => arg.startsWith('-'));
  const isFiles = names.length > 0 && flags.every((flag) => /^(-f|-q|--force|--quiet|--ours|--theirs)$/.test(flag));
  const exists = (name: string) => !name.includes(UNKNOWN) && !cwd.includes(UNKNOWN) && existsSync(resolve(cwd, name));
  return isFiles && names.every(exists) ? ['checkout', ...flags, '--', ...names] : args;
}
