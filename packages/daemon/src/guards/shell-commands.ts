import type { Assignment, Command, CommandNode, CompoundList, ParsedScript, PipelineNode, SyntaxNode } from 'unbash';
import { named, type SimpleCommand, within } from './shell-command.ts';
import { expandText, expandWord, type Surroundings, UNKNOWN } from './shell-expansion.ts';
import { isForkBomb } from './shell-fork-bomb.ts';
import { gitCommands } from './shell-git.ts';
import { NOTHING, type PlainCommand, plainCommand, testWords } from './shell-plain.ts';
import { addRedirection } from './shell-redirect.ts';
import { aliasOf, printedBy, textsRun } from './shell-texts.ts';
import { ShellVariables } from './shell-variables.ts';
import { parseShell, scriptsIn, wordParts } from './shell-words.ts';
import { alsoActs, fedWords, innerWords, isShell, shellCode, xargsFiles } from './shell-wrappers.ts';

export interface ShellPlace {
  cwd: string;
  worktree: string;
  home: string;
}

const DEEPEST = 12;
const MOST_COMMANDS = 5_000;
const SETTERS = new Set(['export', 'declare', 'local', 'readonly', 'typeset']);
const RUNS_TEXT = new Set(['eval', 'trap', 'alias', 'source', '.']);
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=/;

const EMPTY: SimpleCommand = {
  ...named([]),
  variables: [],
  assigned: [],
  reads: [],
  writes: [],
  input: null,
  isPiped: false,
  cwd: '',
  isHidden: false,
};

/** Every command in shell code, in order, at any depth: lists, pipes, substitutions, `sh -c`, `xargs`, `find`. */
export function simpleCommands(source: string, place: ShellPlace): SimpleCommand[] {
  const walk = new Walk(place);
  walk.run(source);
  return walk.found;
}

class Walk {
  readonly found: SimpleCommand[] = [];
  readonly #place: ShellPlace;
  #cwd: string;
  readonly #variables = new ShellVariables();
  readonly #aliases = new Map<string, string[]>();
  #depth = 0;

  constructor(place: ShellPlace) {
    this.#place = place;
    this.#cwd = place.cwd;
  }

  run(source: string): void {
    this.#run(parseShell(source));
  }

  #run(script: ParsedScript): void {
    if (this.#depth >= DEEPEST) throw new Error('the command is nested too deeply');
    this.#depth += 1;
    try {
      this.#statements(script);
    } finally {
      this.#depth -= 1;
    }
  }

  /** Does not change the working directory of the outer shell. */
  #apart(work: () => void): void {
    const cwd = this.#cwd;
    try {
      this.#variables.apart(work);
    } finally {
      this.#cwd = cwd;
    }
  }

  #statements({ commands }: Pick<CompoundList, 'commands'>): void {
    for (const { command } of commands) {
      for (const each of command.type === 'AndOr' ? command.commands : [command]) this.#pipeline(each);
    }
  }

  #pipeline(node: PipelineNode): void {
    if (node.type !== 'Pipeline') {
      this.#node(node, false, null);
      return;
    }
    let before: SimpleCommand | null = null;
    node.commands.forEach((each, index) => {
      before = this.#node(each, index < node.operators.length, before);
    });
  }

  /** The command, if it is a simple one. What other kinds print or read is not known. */
  #node(node: CommandNode | CompoundList, isPiped: boolean, before: SimpleCommand | null): SimpleCommand | null {
    if (node.type === 'Command') return this.#simple(plainCommand(node), isPiped, before);
    this.#compound(node);
    return null;
  }

  #compound(node: Exclude<CommandNode, Command> | CompoundList): void {
    switch (node.type) {
      case 'Redirected':
        // The shell opens the files first.
        this.#simple({ ...NOTHING, redirects: node.redirects }, false, null);
        this.#compound(node.command);
        break;
      case 'CompoundList':
        this.#statements(node);
        break;
      case 'Subshell':
        this.#apart(() => this.#statements(node.body));
        break;
      case 'BraceGroup':
        this.#statements(node.body);
        break;
      case 'Function':
        if (isForkBomb(node)) this.#start({ ...EMPTY, ...named(['fork-bomb', node.name.value]), cwd: this.#cwd }, null);
        this.#node(node.body, false, null);
        break;
      case 'Coproc':
        this.#node(node.body, false, null);
        break;
      case 'If':
        for (const part of [node, ...node.elif]) {
          this.#statements(part.clause);
          this.#statements(part.then);
        }
        if (node.else) this.#statements(node.else);
        break;
      case 'While':
        this.#statements(node.clause);
        this.#statements(node.body);
        break;
      case 'For':
      case 'Select': {
        const values = (node.wordlist ?? []).flatMap((word) => expandWord(wordParts(word), this.#around()));
        this.#variables.set(node.name.value, values.length > 0 ? values : null);
        this.#statements(node.body);
        break;
      }
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) if (part) this.#scripts(part);
        this.#statements(node.body);
        break;
      case 'Case':
        this.#scripts(node.word);
        for (const item of node.items) {
          for (const pattern of item.pattern) this.#scripts(pattern);
          this.#statements(item.body);
        }
        break;
      case 'ArithmeticCommand':
        this.#scripts(node);
        break;
      case 'TestCommand':
        this.#simple({ ...NOTHING, words: testWords(node) }, false, null);
    }
  }

  /** Commands that run to compute a value. */
  #scripts(node: SyntaxNode): void {
    for (const script of scriptsIn(node)) this.#printed(script);
  }

  #simple(plain: PlainCommand, isPiped: boolean, before: SimpleCommand | null): SimpleCommand {
    return this.#variables.asking(() => this.#expanded(plain, isPiped, before));
  }

  #expanded(plain: PlainCommand, isPiped: boolean, before: SimpleCommand | null): SimpleCommand {
    const { words, assignments, lists, redirects } = plain;
    const around = this.#around();
    const assigned = assignments.flatMap((assignment) => {
      const values = this.#assigned(assignment);
      if (words.length === 0) this.#set(assignment, values);
      return values;
    });
    const args = words.flatMap((word) => expandWord(word, around));
    const made: SimpleCommand = {
      ...EMPTY,
      ...named(args),
      assigned,
      reads: [],
      writes: [],
      isPiped,
      cwd: this.#cwd,
    };
    for (const redirect of redirects) addRedirection(made, redirect, around);
    made.variables = this.#variables.asked;
    if (args.length === 0) {
      if (made.reads.length + made.writes.length > 0) this.#add(made);
      return made;
    }
    this.#start(made, before);
    for (const list of lists) this.#set(list, this.#assigned(list));
    return made;
  }

  /** Unwraps programs that only start another one, and follows commands that change the shell itself. */
  #start(command: SimpleCommand, before: SimpleCommand | null): void {
    const { name, args } = command;
    if (this.#renamed(command, before)) return;
    if (name === 'cd' || name === 'pushd') {
      this.#add(command);
      this.#cwd = this.#changed(args);
    } else if (SETTERS.has(name)) {
      for (const arg of args) {
        const [all, variable] = ASSIGNMENT.exec(arg) ?? [];
        if (all && variable) this.#variables.set(variable, all.endsWith('+=') ? null : [arg.slice(all.length)]);
      }
      // Without a name they print all variables.
      if (args.every((arg) => arg.startsWith('-')) || args.some((arg) => /^-\w*p/.test(arg))) this.#add(command);
    } else if (name === 'read' || name === 'mapfile' || name === 'readarray') {
      for (const arg of args) this.#variables.set(arg, null);
      this.#add(command);
    } else if (RUNS_TEXT.has(name) || isShell(name)) {
      if (name === 'alias') for (const arg of args) this.#aliases.set(...aliasOf(arg));
      this.#code(command, before);
    } else if (name === 'git') for (const each of gitCommands(command)) this.#add(each);
    else {
      if (name === 'xargs') command.reads.push(...xargsFiles(args));
      const inner = innerWords(name, args, before ? fedWords(before) : null);
      if (inner.length === 0 || alsoActs(name, args)) this.#add(command);
      else if (command.reads.length + command.writes.length > 0) this.#add({ ...command, ...named([]) });
      for (const words of inner) this.#start({ ...command, reads: [], writes: [], ...named(words) }, before);
      for (const text of textsRun(command, before ? fedWords(before) : null))
        if (!text.includes(UNKNOWN)) this.#apart(() => this.run(text));
    }
  }

  /** An alias may be used on a later line. It does not stand for itself. */
  #renamed(command: SimpleCommand, before: SimpleCommand | null): boolean {
    const words = this.#aliases.get(command.name);
    if (!words) return false;
    this.#aliases.delete(command.name);
    this.#start({ ...command, ...named([...words, ...command.args]) }, before);
    this.#aliases.set(command.name, words);
    return true;
  }

  /** Text that is run as shell code: it is parsed if it is known. */
  #code(command: SimpleCommand, before: SimpleCommand | null): void {
    const code = shellCode(command, before ? fedWords(before) : null);
    if (code === null || code.includes(UNKNOWN)) this.#add({ ...command, isHidden: code !== null });
    else {
      if (command.reads.length + command.writes.length > 0) this.#add({ ...command, ...named([]) });
      if (command.name === 'eval') this.run(code);
      else this.#apart(() => this.run(code));
    }
  }

  #changed(args: string[]): string {
    const target = args.filter((arg) => !/^-[LPe@]+$/.test(arg) && arg !== '--')[0];
    if (target === '-') return UNKNOWN;
    return within(this.#cwd, target ?? this.#place.home);
  }

  /** The values that a variable may have after an assignment; for a list, the values of its elements. */
  #assigned({ value, index }: Assignment): string[] {
    if (index) this.#scripts(index);
    const around = this.#around();
    if (value.type === 'Word') return expandText(wordParts(value), around);
    return value.elements.flatMap((element) => expandWord(wordParts(element), around));
  }

  #set(assignment: Assignment, values: string[]): void {
    const earlier = assignment.append || assignment.index ? this.#around().variable(assignment.name) : [];
    this.#variables.assign(assignment, values, earlier);
  }

  #around(): Surroundings {
    const { home } = this.#place;
    return {
      cwd: this.#cwd,
      home,
      variable: (name) => {
        const known = this.#variables.get(name);
        if (known !== undefined) return known;
        if (name === 'HOME') return [home];
        if (name === 'PWD') return [this.#cwd];
        if (name === 'IFS') return [' '];
        if (/^[?#$!]$/.test(name)) return ['0'];
        this.#variables.ask(name);
        return null;
      },
      command: (script) => this.#printed(script),
    };
  }

  #printed(script: ParsedScript): string | null {
    const from = this.found.length;
    let cwd = this.#cwd;
    this.#apart(() => {
      this.#run(script);
      cwd = this.#cwd;
    });
    const [only, ...more] = this.found.slice(from);
    if (!only || more.length > 0) return null;
    return only.name === 'pwd' ? cwd : printedBy(only, this.#place.worktree);
  }

  #add(command: SimpleCommand): void {
    if (this.found.push(command) > MOST_COMMANDS) throw new Error('the command has too many parts');
  }
}
