import { Ends, matchAt as found } from './ends.ts';
import type { TestLanguage } from './language.ts';

export interface TestToken {
  /** As written; a string is one token. */
  text: string;
  kind: 'word' | 'string' | 'sign' | 'open' | 'close' | 'newline' | 'acting' | 'directive';
  line: number;
  /** The first of its line. */
  isFirst: boolean;
}

const SPACE = /[^\S\r\n\u2028\u2029]+|\\(?=\r?\n)/y;
const NEWLINE = /\r\n?|\n|\u2028|\u2029/y;
const WORD =
  /[A-Za-z_$\u0080-\u009f\u00a1-\u1fff\u200b-\u2027\u202a-\u2fff\u3001-\ufefe\uff00-\uffff][\w$\u0080-\u009f\u00a1-\u1fff\u200b-\u2027\u202a-\u2fff\u3001-\ufefe\uff00-\uffff]*/y;
const NUMBER = /\d[\w.]*/y;
const SIGN = /\.\.\.|=>|->|::|:=|\?\.|\+\+|--|[=!]==?|<=|>=|\*\*=?|&&=?|\|\|=?|\?\?=?|<<=?|>>=|[-+*/%&|^@]=|[\s\S]/y;
const PATTERN = /\/(?![*/>])(?:[^\\/[\n\r\u2028\u2029]|\\[^\n\r]|\[(?:[^\\\]\n\r]|\\[^\n\r])*\])+\/\w*/y;
/** A pattern may follow these, a division may not. */
const BEFORE_VALUE =
  /^(return|typeof|case|in|of|void|delete|throw|new|else|do|await|yield|instanceof|if|unless|and|or|not|when|while|[^\w)\]}"'`/$].*)$/;
const DIRECTIVE = /#(?:[^\\\n\r]|\\\r?\n|\\[^\n])*/y;
const CLOSES: Record<string, string> = { '(': ')', '[': ']', '{': '}' };
export const INDENT = '⇥';
const DEDENT = '⇤';
/** A hostile file must not make the scanner look at a line again and again. */
const MOST_LOOSE_QUOTES = 50;
const DEEPEST = 150;
const MOST_TOKENS = 120_000;

/** The tokens of a file without its comments; null when quotes or brackets have no end. */
export function tokensOf(text: string, language: TestLanguage): TestToken[] | null {
  return new Scanner(text, language).scan();
}

class Scanner {
  readonly #tokens: TestToken[] = [];
  readonly #brackets: { closer: string; isCondition: boolean }[] = [];
  readonly #indents = [0];
  readonly #heredocs: string[] = [];
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #isFirst = true;
  #looseQuotes = 0;
  /** The last line of a comment that a runner reads over several lines. */
  #actsUntil = -2;
  readonly #text: string;
  readonly #language: TestLanguage;
  readonly #ends: Ends;

  constructor(text: string, language: TestLanguage) {
    this.#text = text.replace(/^\ufeff/, '');
    this.#language = language;
    this.#ends = new Ends(this.#text, language);
  }

  scan(): TestToken[] | null {
    while (this.#at < this.#text.length) if (!this.#step() || this.#tokens.length > MOST_TOKENS) return null;
    if (this.#byIndent()) this.#indentTo(0);
    return this.#brackets.length === 0 && this.#heredocs.length === 0 ? this.#tokens : null;
  }

  #byIndent = () => this.#language.lines === 'indent' || this.#language.lines === 'loose indent';

  #step(): boolean {
    const { lines } = this.#language;
    const space = found(SPACE, this.#text, this.#at);
    if (space) {
      this.#at = SPACE.lastIndex;
      if (space[0].startsWith('\\')) {
        // The next line continues this one.
        this.#at += found(NEWLINE, this.#text, this.#at)![0].length;
        this.#line += 1;
      }
      return true;
    }
    if (found(NEWLINE, this.#text, this.#at)) return this.#newline();
    const comment = this.#comment();
    if (comment !== 'none') return comment === 'read';
    if (this.#isFirst && this.#byIndent() && (this.#brackets.at(-1)?.closer ?? DEDENT) === DEDENT) {
      const before = this.#text.slice(this.#lineStart, this.#at);
      if (lines === 'indent' && /[^ \t]|\t.* | \t/.test(before)) return false;
      if (!this.#indentTo(before.replace(/\t/g, '        ').length)) return false;
    }
    return this.#directive() ?? this.#heredoc() ?? this.#string() ?? this.#other();
  }

  #push(kind: TestToken['kind'], text: string): true {
    this.#tokens.push({ kind, text, line: this.#line, isFirst: this.#isFirst });
    this.#isFirst = false;
    return true;
  }

  #advance(to: number): string {
    const text = this.#text.slice(this.#at, to);
    for (let next = text.indexOf('\n'); next >= 0; next = text.indexOf('\n', next + 1)) this.#line += 1;
    this.#at = to;
    return text;
  }

  #newline(): boolean {
    this.#at = NEWLINE.lastIndex;
    const innermost = this.#brackets.at(-1)?.closer ?? '';
    const isByIndent = this.#byIndent();
    const isInside = innermost !== '' && innermost !== (isByIndent ? DEDENT : '}') && !this.#language.endsInside;
    const last = this.#tokens.at(-1);
    const isEnding =
      isByIndent || (this.#language.lines === 'ends' && (this.#language.shell || (last && canEnd(last))));
    if (isEnding && !isInside && last && last.kind !== 'newline' && last.kind !== 'open') this.#push('newline', '\n');
    this.#line += 1;
    this.#lineStart = this.#at;
    this.#isFirst = true;
    for (const name of this.#heredocs.splice(0)) {
      const end = new RegExp(`^[ \\t]*${name}\\b`, 'm');
      const at = this.#text.slice(this.#at).search(end);
      if (at < 0) return false;
      const body = this.#advance(this.#at + at + this.#text.slice(this.#at + at).indexOf(name) + name.length);
      this.#push('string', body);
    }
    return true;
  }

  /** Returns false when the indentation fits no line before. */
  #indentTo(indent: number): boolean {
    while (indent < this.#indents.at(-1)!) {
      this.#indents.pop();
      this.#brackets.pop();
      this.#push('close', DEDENT);
      this.#isFirst = true;
    }
    if (indent === this.#indents.at(-1)) return true;
    if (this.#language.lines === 'indent' && this.#tokens.at(-1)?.kind === 'close') return false;
    this.#indents.push(indent);
    this.#brackets.push({ closer: DEDENT, isCondition: false });
    if (this.#brackets.length > DEEPEST) return false;
    this.#push('open', INDENT);
    this.#isFirst = true;
    return true;
  }

  #comment(): 'none' | 'read' | 'endless' {
    const { line, block, nests, acting, actsOn, directives } = this.#language;
    const text = this.#text;
    let end = -1;
    if (block && text.startsWith(block[0], this.#at)) {
      end = this.#ends.ofComment(this.#at, block, nests === true);
      if (end < 0) return 'endless';
    } else if (line && found(line, text, this.#at)) {
      for (end = this.#at; end < text.length && !found(NEWLINE, text, end); end += 1)
        // A backslash at the end of a line makes the next line a part of the comment.
        if (directives && text[end] === '\\' && found(NEWLINE, text, end + 1)) end = NEWLINE.lastIndex;
    }
    if (end < 0) return 'none';
    const startLine = this.#line;
    const comment = this.#advance(end);
    if (actsOn?.test(comment)) this.#actsUntil = startLine;
    else if (this.#actsUntil === startLine - 1) this.#actsUntil = startLine;
    if (acting?.test(comment) || this.#actsUntil === startLine) this.#push('acting', comment);
    // A comment over two lines ends a line, as far as `return` is concerned.
    if (this.#line > startLine && !this.#byIndent()) this.#isFirst = true;
    return 'read';
  }

  #directive(): boolean | null {
    if (!this.#language.directives || !this.#isFirst || this.#text[this.#at] !== '#') return null;
    const line = found(DIRECTIVE, this.#text, this.#at)![0];
    // The other branch has brackets of its own, so it stays one piece.
    const whole = /^#\s*el/.test(line) ? this.#text.slice(this.#at, this.#branchEnd()) : line;
    this.#push('directive', whole.replace(/\s+/g, ' ').trim());
    this.#advance(this.#at + whole.length);
    return true;
  }

  #branchEnd(): number {
    const next = /^[ \t]*#[ \t]*(if|endif)/gm;
    next.lastIndex = this.#at;
    let depth = 1;
    for (let mark = next.exec(this.#text); mark; mark = next.exec(this.#text)) {
      depth += mark[1] === 'if' ? 1 : -1;
      if (depth === 0) return mark.index;
    }
    return this.#text.length;
  }

  #heredoc(): boolean | null {
    const opener = this.#language.heredoc && found(this.#language.heredoc, this.#text, this.#at);
    if (!opener) return null;
    this.#heredocs.push(opener[1]!);
    this.#at += opener[0].length;
    return this.#push('string', opener[0]);
  }

  #string(): boolean | null {
    for (const quote of this.#language.quotes) {
      const opener = found(quote.open, this.#text, this.#at);
      if (!opener) continue;
      const end = this.#ends.ofString(this.#at, quote);
      if (end >= 0) {
        this.#push('string', this.#text.slice(this.#at, end));
        this.#advance(end);
        return true;
      }
      // An apostrophe in the text of an element. A string over several lines must end somewhere.
      this.#looseQuotes += 1;
      if (quote.isMultiline || this.#looseQuotes > MOST_LOOSE_QUOTES || this.#ends.isExhausted) return false;
      this.#at += opener[0].length;
      return this.#push('sign', opener[0]);
    }
    return null;
  }

  #other(): boolean {
    const text = this.#text;
    const last = this.#tokens.at(-1);
    const sign = text[this.#at]!;
    if (sign === '/' && this.#language.patterns && this.#maySee(last)) {
      const pattern = found(PATTERN, text, this.#at);
      if (pattern) {
        this.#at += pattern[0].length;
        return this.#push('string', pattern[0]);
      }
    }
    const word = found(WORD, text, this.#at) ?? found(NUMBER, text, this.#at);
    if (word) {
      this.#at += word[0].length;
      return this.#push('word', word[0]);
    }
    if (this.#isBracket(sign)) return this.#bracket(sign, last);
    const signs =
      this.#language.shell && sign === '\\' ? text.slice(this.#at, this.#at + 2) : found(SIGN, text, this.#at)![0];
    this.#at += signs.length;
    // A line that starts so continues the one before.
    if (this.#tokens.at(-1)?.kind === 'newline' && /^(\.|\?[.:]|&&|\|\|)/.test(signs) && !this.#byIndent())
      this.#tokens.pop();
    return this.#push('sign', signs);
  }

  /** Whether a value may come next. */
  #maySee(last: TestToken | undefined): boolean {
    if (!last || last.kind === 'newline' || last.kind === 'open') return true;
    if (last.text === ')') return this.#closedCondition;
    return last.text !== '<' && last.kind !== 'string' && (last.text === '}' || BEFORE_VALUE.test(last.text));
  }
  #closedCondition = false;

  #isBracket(sign: string): boolean {
    if (!'([{}])'.includes(sign)) return false;
    if (!this.#language.shell) return true;
    // As a word: `{ …; }`, not `${a}` or `{1..3}`.
    if (sign === '{') return /^\{(\s|$)/.test(this.#text.slice(this.#at, this.#at + 2));
    const last = this.#tokens.at(-1);
    return sign === '}' && (this.#isFirst || last?.text === ';' || last?.kind === 'newline');
  }

  #bracket(sign: string, last: TestToken | undefined): boolean {
    this.#at += 1;
    const closer = CLOSES[sign];
    if (closer !== undefined) {
      const isCondition = sign === '(' && /^(if|while|for|with)$/.test(last?.text ?? '');
      this.#brackets.push({ closer, isCondition });
      return this.#brackets.length <= DEEPEST && this.#push('open', sign);
    }
    const opened = this.#brackets.pop();
    if (this.#tokens.at(-1)?.kind === 'newline' && sign !== DEDENT) this.#tokens.pop();
    this.#closedCondition = opened?.isCondition === true;
    return opened?.closer === sign && this.#push('close', sign);
  }
}

const canEnd = ({ kind, text }: TestToken) =>
  kind === 'word' ||
  kind === 'string' ||
  kind === 'close' ||
  kind === 'acting' ||
  text === '++' ||
  text === '--' ||
  text === '?' ||
  text === '!';
