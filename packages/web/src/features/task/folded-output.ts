import { plain } from '../../plain.ts';

/** A piece of a run's output: text, blank lines, or a tool call with its result. */
export type OutputItem =
  | { kind: 'text'; text: string }
  | { kind: 'blank'; count: number }
  | { kind: 'call'; tool: string; argument: string; result: string[]; more: number; isFailed: boolean };

/** With more items, the oldest are dropped. */
const MOST_ITEMS = 60_000;
const DROPPED_AT_ONCE = 10_000;
/** Longer lines are split, so that they do not freeze the page. */
const LONGEST_LINE = 2000;
/** A line is not split inside an escape sequence, which would show its second half. */
const LONGEST_SEQUENCE = 64;
const MOST_RESULT = 2000;

/** How the agents' adapters write a tool call: `> Bash: npm test`, `[execute] npm test`, `$ npm test`. */
const CALLS: [form: RegExp, tool: (name: string) => string][] = [
  [/^> ([A-Za-z][\w.-]{0,80}): (.*)$/, (name) => name],
  [/^\[(read|edit|delete|move|search|execute|think|fetch|switch_mode|other|tool)\] (.*)$/, (name) => name],
  [/^(\$) (.+)$/, () => 'shell'],
];
/** The result follows the call: indented lines, a refusal or an exit code. */
const RESULT = /^(?: {2}|! |\[denied\] |\(exit code )/;
const FAILED = /^(?:! |\[denied\] |\(exit code )/;

/** Groups output as it arrives. Chunks may be cut anywhere. */
export class FoldedOutput {
  items: OutputItem[] = [];
  /** The number of dropped items. */
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

  /** The unfinished last line. */
  get tail(): string {
    return plain(this.#rest);
  }

  #line(raw: string): void {
    if (raw === '') this.#blank();
    else if (raw.startsWith('[output truncated at 5 MB]')) this.isCut = true;
    // A lone carriage return overwrites the line on a terminal. Here it starts a new line.
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
    this.items = this.items.slice(DROPPED_AT_ONCE);
    this.dropped += DROPPED_AT_ONCE;
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
