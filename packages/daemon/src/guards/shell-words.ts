// Reads a shell command the way a POSIX shell (and bash, where agents use it) does, without running anything.
// Only the words matter here: what is filled in when it runs stays a part of its own, for others to judge.

/** A piece of a word. What a variable or a substitution stands for is not known here. */
export type Part =
  | { kind: 'text'; text: string; quoted: boolean }
  | { kind: 'variable'; name: string; quoted: boolean }
  /** `$(…)`, backticks, `<(…)`: a command of its own. */
  | { kind: 'command'; source: string; quoted: boolean }
  /** `${x%y}`, `$((…))`: something computed. */
  | { kind: 'computed'; source: string; inner: Part[]; quoted: boolean };

export type Token =
  | { kind: 'word'; parts: Part[] }
  | { kind: 'operator'; operator: string }
  /** `body` is the text of a here-document. */
  | { kind: 'redirect'; operator: string; target: Part[]; body: Part[] | null };

/** The text is no complete shell command: a quote or bracket is left open. */
export class UnclearCommand extends Error {}

const OPERATORS = [';;&', '&&', '||', ';;', ';&', '|&', ';', '|', '&', '(', ')', '\n'];
const REDIRECTS = ['&>>', '<<<', '<<-', '<<', '>>', '>|', '>&', '<&', '<>', '&>', '>', '<'];
const WORD_ENDS = new Set([' ', '\t', '\r', '\n', ';', '|', '&', '(', ')', '<', '>']);
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v', e: '\x1b' };

export function shellTokens(source: string): Token[] {
  return new Reader(source).tokens();
}

class Reader {
  readonly #source: string;
  #at = 0;
  #bodies: { token: Extract<Token, { kind: 'redirect' }>; end: string; tabs: boolean; literal: boolean }[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  tokens(): Token[] {
    const tokens: Token[] = [];
    while (this.#skipBlanks()) {
      const redirect = this.#redirect();
      if (redirect) {
        tokens.push(redirect);
        continue;
      }
      const operator = this.#startsWith(OPERATORS);
      if (operator === null) {
        tokens.push({ kind: 'word', parts: this.#word() });
        continue;
      }
      this.#at += operator.length;
      tokens.push({ kind: 'operator', operator: operator === '\n' ? ';' : operator });
      if (operator === '\n') this.#readBodies();
    }
    if (this.#bodies.length > 0) this.#readBodies();
    return tokens;
  }

  /** Whether anything is left. */
  #skipBlanks(): boolean {
    for (; this.#at < this.#source.length; this.#at += 1) {
      const char = this.#source[this.#at]!;
      if (char === '#') {
        const end = this.#source.indexOf('\n', this.#at);
        this.#at = (end < 0 ? this.#source.length : end) - 1;
      } else if (char === '\\' && this.#source[this.#at + 1] === '\n') this.#at += 1;
      else if (char !== ' ' && char !== '\t' && char !== '\r') return true;
    }
    return false;
  }

  #startsWith(choices: string[]): string | null {
    return choices.find((choice) => this.#source.startsWith(choice, this.#at)) ?? null;
  }

  #redirect(): Token | null {
    const descriptor = /(?:\d+|\{\w+\})?(?=[<>])/y;
    descriptor.lastIndex = this.#at;
    const prefix = descriptor.exec(this.#source)?.[0].length ?? 0;
    const operator = REDIRECTS.find((choice) => this.#source.startsWith(choice, this.#at + prefix)) ?? null;
    // `<(…)` and `>(…)` are words; they only look like a redirection.
    if (operator === null || this.#source[this.#at + prefix + 1] === '(') return null;
    this.#at += prefix + operator.length;
    while (this.#source[this.#at] === ' ' || this.#source[this.#at] === '\t') this.#at += 1;
    const target = this.#word();
    const token = { kind: 'redirect' as const, operator, target, body: null };
    if (operator === '<<' || operator === '<<-') {
      const end = target.map((part) => ('text' in part ? part.text : '')).join('');
      const literal = target.some((part) => part.quoted);
      this.#bodies.push({ token, end, tabs: operator === '<<-', literal });
    }
    return token;
  }

  #readBodies(): void {
    for (const { token, end, tabs, literal } of this.#bodies.splice(0)) {
      const lines: string[] = [];
      for (;;) {
        if (this.#at >= this.#source.length) break;
        const stop = this.#source.indexOf('\n', this.#at);
        const line = this.#source.slice(this.#at, stop < 0 ? undefined : stop);
        this.#at = stop < 0 ? this.#source.length : stop + 1;
        if ((tabs ? line.replace(/^\t+/, '') : line) === end) break;
        lines.push(line);
      }
      const text = lines.join('\n');
      token.body = literal ? [{ kind: 'text', text, quoted: true }] : new Reader(text).#inQuotes(null);
    }
  }

  #word(): Part[] {
    const parts: Part[] = [];
    while (this.#at < this.#source.length) {
      const char = this.#source[this.#at]!;
      const next = this.#source[this.#at + 1];
      if ((char === '<' || char === '>') && next === '(') {
        this.#at += 1;
        parts.push({ kind: 'command', source: this.#bracketed('(', ')'), quoted: true });
      } else if (WORD_ENDS.has(char)) break;
      else if (char === '\\') {
        if (next !== '\n') add(parts, next ?? '\\', true);
        this.#at += 2;
      } else if (char === "'") {
        this.#at += 1;
        add(parts, this.#until("'"), true);
      } else if (char === '"' || (char === '$' && next === '"')) {
        this.#at += char === '"' ? 1 : 2;
        add(parts, '', true);
        parts.push(...this.#inQuotes('"'));
      } else if (char === '$' && next === "'") {
        this.#at += 2;
        add(parts, this.#ansi(), true);
      } else if (char === '$' || char === '`') parts.push(this.#expansion(false));
      else {
        add(parts, char, false);
        this.#at += 1;
      }
    }
    return parts;
  }

  #until(end: string): string {
    const stop = this.#source.indexOf(end, this.#at);
    if (stop < 0) throw new UnclearCommand(`a ${end} is never closed`);
    const text = this.#source.slice(this.#at, stop);
    this.#at = stop + end.length;
    return text;
  }

  /** Up to the closing quote, or to the end of the text where there is none to wait for. */
  #inQuotes(end: '"' | null): Part[] {
    const parts: Part[] = [];
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined) {
        if (end === null) return parts;
        throw new UnclearCommand('a " is never closed');
      }
      if (char === end) {
        this.#at += 1;
        return parts;
      }
      const next = this.#source[this.#at + 1];
      if (char === '\\' && next !== undefined && '$`"\\\n'.includes(next)) {
        if (next !== '\n') add(parts, next, true);
        this.#at += 2;
      } else if (char === '$' || char === '`') parts.push(this.#expansion(true));
      else {
        add(parts, char, true);
        this.#at += 1;
      }
    }
  }

  #ansi(): string {
    let text = '';
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined) throw new UnclearCommand("a $' is never closed");
      this.#at += 1;
      if (char === "'") return text;
      if (char !== '\\') {
        text += char;
        continue;
      }
      const coded = /x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})/y;
      coded.lastIndex = this.#at;
      const found = coded.exec(this.#source);
      if (found) {
        const [all, hex, short, long, octal] = found;
        const code = octal === undefined ? Number.parseInt((hex ?? short ?? long)!, 16) : Number.parseInt(octal, 8);
        text += code <= 0x10ffff ? String.fromCodePoint(code) : '';
        this.#at += all.length;
      } else {
        const escaped = this.#source[this.#at] ?? '';
        text += ESCAPES[escaped] ?? escaped;
        this.#at += 1;
      }
    }
  }

  #expansion(quoted: boolean): Part {
    if (this.#source[this.#at] === '`') {
      this.#at += 1;
      let source = '';
      for (;;) {
        const char = this.#source[this.#at];
        if (char === undefined) throw new UnclearCommand('a ` is never closed');
        this.#at += 1;
        if (char === '`') return { kind: 'command', source, quoted };
        if (char === '\\' && '`$\\'.includes(this.#source[this.#at] ?? ' ')) source += this.#source[this.#at++];
        else source += char;
      }
    }
    this.#at += 1;
    if (this.#source[this.#at] === '(') {
      const source = this.#bracketed('(', ')');
      // `$((a + b))` is arithmetic; `$((rm x) )` is a subshell in a substitution. In doubt it runs something.
      return isArithmetic(source) ? computed(source, quoted) : { kind: 'command', source, quoted };
    }
    if (this.#source[this.#at] === '{') {
      const source = this.#bracketed('{', '}');
      return /^\w+$/.test(source) ? { kind: 'variable', name: source, quoted } : computed(source, quoted);
    }
    const name = /[A-Za-z_]\w*|[0-9@*#?$!-]/y;
    name.lastIndex = this.#at;
    const found = name.exec(this.#source)?.[0];
    if (found === undefined) return { kind: 'text', text: '$', quoted };
    this.#at += found.length;
    return { kind: 'variable', name: found, quoted };
  }

  /** What stands between a bracket here and its partner; quotes inside may hold brackets of their own. */
  #bracketed(open: string, close: string): string {
    const start = this.#at + 1;
    const heres: string[] = [];
    let depth = 0;
    for (; this.#at < this.#source.length; this.#at += 1) {
      const char = this.#source[this.#at]!;
      if (char === '<' && open === '(') this.#noteHere(heres);
      if (char === '\n' && heres.length > 0) this.#skipHeres(heres);
      else if (char === '\\') this.#at += 1;
      else if (char === "'" || char === '"' || char === '`') this.#skipQuoted(char);
      else if (char === open) depth += 1;
      else if (char === close) {
        depth -= 1;
        if (depth > 0) continue;
        this.#at += 1;
        return this.#source.slice(start, this.#at - 1);
      }
    }
    throw new UnclearCommand(`a ${open} is never closed`);
  }

  /** A here-document within brackets: its text may hold quotes and brackets that mean nothing. */
  #noteHere(ends: string[]): void {
    const here = /<<-?[ \t]*(?:'([^']+)'|"([^"]+)"|\\?([^\s;|&<>()'"]+))/y;
    here.lastIndex = this.#at;
    const found = this.#source[this.#at - 1] === '<' ? null : here.exec(this.#source);
    if (!found) return;
    ends.push((found[1] ?? found[2] ?? found[3])!);
    this.#at += found[0].length - 1;
  }

  /** From the end of the line that announced them; leaves the cursor before what follows. */
  #skipHeres(ends: string[]): void {
    for (const end of ends.splice(0)) {
      for (let line = ''; line !== end; ) {
        const stop = this.#source.indexOf('\n', this.#at + 1);
        line = this.#source.slice(this.#at + 1, stop < 0 ? undefined : stop).replace(/^\t+/, '');
        this.#at = stop < 0 ? this.#source.length : stop;
        if (stop < 0) break;
      }
    }
    this.#at -= 1;
  }

  /** Leaves the cursor on the closing quote. */
  #skipQuoted(quote: string): void {
    for (this.#at += 1; this.#at < this.#source.length; this.#at += 1) {
      const char = this.#source[this.#at]!;
      if (char === quote) return;
      if (char === '\\' && quote !== "'") this.#at += 1;
      else if (char === '$' && this.#source[this.#at + 1] === '(' && quote === '"') {
        this.#at += 1;
        this.#bracketed('(', ')');
        this.#at -= 1;
      }
    }
    throw new UnclearCommand(`a ${quote} is never closed`);
  }
}

const isArithmetic = (source: string) => /^\(.*\)$/s.test(source) && !/[A-Za-z_./~]\S*\s+\S*[A-Za-z./~]/.test(source);

function computed(source: string, quoted: boolean): Part {
  return { kind: 'computed', source, inner: shellText(source), quoted };
}

/** Text in which only `$…` and backticks mean something, as between double quotes. */
function shellText(source: string): Part[] {
  const quoted = `"${source.replace(/["\\]/g, ' ')}"`;
  return shellTokens(quoted).flatMap((token) => (token.kind === 'word' ? token.parts : []));
}

function add(parts: Part[], text: string, quoted: boolean): void {
  const last = parts.at(-1);
  if (last?.kind === 'text' && last.quoted === quoted) last.text += text;
  else parts.push({ kind: 'text', text, quoted });
}
