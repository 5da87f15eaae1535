import type { Quote, TestLanguage } from './language.ts';

const NEWLINE = /[\r\n\u2028\u2029]/;

/** Finds the ends of strings and of comments, in a time that grows with the length of the text only. */
export class Ends {
  readonly #text: string;
  readonly #language: TestLanguage;
  /** Strings in strings are read again where a guess was wrong. */
  #left: number;

  constructor(text: string, language: TestLanguage) {
    this.#text = text;
    this.#language = language;
    this.#left = 3 * text.length + 1000;
  }

  get isExhausted(): boolean {
    return this.#left < 0;
  }

  /** Where the string that starts here ends; -1 when it does not. */
  ofString(start: number, quote: Quote, depth = 0): number {
    const opener = matchAt(quote.open, this.#text, start);
    if (!opener || depth > 20) return -1;
    const close = quote.close?.(opener[1] ?? '') ?? opener[1]!;
    for (let at = start + opener[0].length; at < this.#text.length; at += 1) {
      this.#left -= 1;
      if (this.isExhausted) return -1;
      if (this.#text.startsWith(close, at)) return at + close.length;
      const sign = this.#text[at]!;
      if (quote.code !== undefined && this.#text.startsWith(quote.code, at)) {
        const end = quote.code === '{' && this.#text[at + 1] === '{' ? at + 2 : this.#ofCode(at, quote.code, depth + 1);
        // Braces in a format are no code.
        if (end < 0) return quote.code === '{' ? this.ofString(start, { ...quote, code: '\0' }, depth + 1) : -1;
        at = end - 1;
      } else if (sign === '\\' && !quote.isRaw) at += 1;
      else if (!quote.isMultiline && NEWLINE.test(sign)) return -1;
    }
    return -1;
  }

  #ofCode(start: number, code: string, depth: number): number {
    let open = 1;
    for (let at = start + code.length; at < this.#text.length; at += 1) {
      this.#left -= 1;
      const sign = this.#text[at]!;
      if ('([{'.includes(sign)) open += 1;
      else if (')]}'.includes(sign)) open -= 1;
      else {
        const quote = this.#language.quotes.find((each) => matchAt(each.open, this.#text, at));
        const end = quote ? this.ofString(at, quote, depth) : at + 1;
        if (end < 0) return -1;
        at = end - 1;
      }
      if (open === 0) return at + 1;
    }
    return -1;
  }

  ofComment(start: number, [open, close]: [string, string], nests: boolean): number {
    if (!nests) {
      const end = this.#text.indexOf(close, start + open.length);
      return end < 0 ? -1 : end + close.length;
    }
    let depth = 0;
    for (let at = start; at < this.#text.length; at += 1) {
      const isOpen = this.#text.startsWith(open, at);
      if (!isOpen && !this.#text.startsWith(close, at)) continue;
      depth += isOpen ? 1 : -1;
      at += 1;
      if (depth === 0) return at + 1;
    }
    return -1;
  }
}

export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
