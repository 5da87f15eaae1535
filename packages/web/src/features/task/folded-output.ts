import { plain } from '../../plain.ts';

/** A piece of a run's output: words, nothing for a while, or a tool that was used, with what came of it. */
export type OutputItem =
  | { kind: 'text'; text: string }
  | { kind: 'blank'; count: number }
  | { kind: 'call'; tool: string; argument: string; result: string[]; more: number; isFailed: boolean };

/** More than a run's output has in any sane case; then the beginning is let go. */
const MOST_ITEMS = 60_000;
const LET_GO = 10_000;
/** Lines that are longer are shown in pieces, so that none freezes the page. */
const LONGEST_LINE = 2000;
/** An escape sequence that is cut in two would show its second half. */
const LONGEST_SEQUENCE = 64;
const MOST_RESULT = 2000;

/** How the agents' adapters write a tool call: `> Bash: npm test`, `[execute] npm test`, `$ npm test`. */
const CALLS: [form: RegExp, tool: (name: string) => string][] = [
  [/^> ([A-Za-z][\w.-]{0,80}): (.*)$/, (name) => name],
  [/^\[(read|edit|delete|move|search|execute|think|fetch|switch_mode|other|tool)\] (.*)$/, (name) => name],
  [/^(\$) (.+)$/, () => 'shell'],
];
/** What came of it stands right below: indented, refused, or with the code it ended with. */
const RESULT = /^(?: {2}|! |\[denied\] |\(exit code )/;
const FAILED = /^(?:! |\[denied\] |\(exit code )/;

/** Output as it comes in, folded. Takes any cut: lines and sequences are put together again. */
export class FoldedOutput {
  items: OutputItem[] = [];
  /** So many pieces from the beginning were let go. */
  dropped = 0;
  isCut = false;
  #rest = '';

  push(text: string): void {
    this.#rest += text;
    let from = 0;
    for (let at = this.#rest.indexOf('\n', from); at >= 0; at = this.#rest.indexOf('\n', from)) {
      this.#line(this.#rest.slice(from, at));
      from = at + 1;
    }
    this.#rest = this.#rest.slice(from);
    while (this.#rest.length > 2 * LONGEST_LINE) {
      const begun = this.#rest.lastIndexOf('\u001b', LONGEST_LINE);
      const cut = begun > LONGEST_LINE - LONGEST_SEQUENCE ? begun : LONGEST_LINE;
      this.#line(this.#rest.slice(0, cut));
      this.#rest = this.#rest.slice(cut);
    }
  }

  /** The line that has no end yet. */
  get tail(): string {
    return plain(this.#rest);
  }

  #line(raw: string): void {
    if (raw === '') this.#blank();
    else if (raw.startsWith('[output truncated at 5 MB]')) this.isCut = true;
    // A lone carriage return would write over the line: what stood there is shown as a line of its own.
    else for (const text of plain(raw.endsWith('\r') ? raw.slice(0, -1) : raw).split('\n')) this.#take(text);
  }

  #take(text: string): void {
    const last = this.items.at(-1);
    const call = callOf(text);
    if (last?.kind === 'call' && RESULT.test(text)) addResult(last, text);
    else if (call) this.#add(call);
    else if (text.trim() !== '') this.#words(text);
    else this.#blank();
  }

  #blank(): void {
    const last = this.items.at(-1);
    if (last?.kind === 'blank') last.count += 1;
    else this.#add({ kind: 'blank', count: 1 });
  }

  #words(text: string): void {
    for (let from = 0; from < text.length; from += LONGEST_LINE)
      this.#add({ kind: 'text', text: text.slice(from, from + LONGEST_LINE) });
  }

  #add(item: OutputItem): void {
    this.items.push(item);
    if (this.items.length <= MOST_ITEMS) return;
    this.items = this.items.slice(LET_GO);
    this.dropped += LET_GO;
  }
}

type Call = Extract<OutputItem, { kind: 'call' }>;

function callOf(text: string): Call | null {
  for (const [form, toolOf] of CALLS) {
    const [, name = '', argument] = form.exec(text) ?? [];
    if (argument === undefined) continue;
    const isFailed = argument.endsWith(' (failed)');
    return { kind: 'call', tool: toolOf(name), argument, result: [], more: 0, isFailed };
  }
  return null;
}

function addResult(call: Call, text: string): void {
  if (FAILED.test(text)) call.isFailed = true;
  if (call.result.length < MOST_RESULT) call.result.push(text.replace(/^(?: {2}|! )/, '').slice(0, LONGEST_LINE));
  else call.more += 1;
}
