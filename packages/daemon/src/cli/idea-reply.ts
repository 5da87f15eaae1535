import { type Api, type EventBody, type IdeaDetail, plainText, replyInOutput } from '@tidemill/contract';
import type { Terminal } from './terminal.ts';

const FOLLOWED: EventBody['type'][] = ['run.started', 'idea.reply_begun', 'idea.replied', 'idea.reply_ended'];

/** How the agent answered a message. */
export type Answered = { kind: 'replied' | 'asked' } | { kind: 'failed'; why: string };

/** Waits for the reply to the newest message and prints it while it is written. */
export async function followReply(api: Api, begun: IdeaDetail, terminal: Terminal | null): Promise<Answered> {
  const { idea, messages, lastSeq } = begun;
  const leaving = new AbortController();
  const asked = messages.findLast(({ role }) => role === 'person')?.number ?? 0;
  let isOurs = idea.briefedUpTo >= asked;
  let runId = begun.runId;
  const printer = new ReplyPrinter(terminal);
  try {
    if (runId !== null && isOurs) await printer.follow(api, runId);
    const lines = api.events(
      { project: idea.projectId, after: lastSeq, follow: true, types: FOLLOWED },
      leaving.signal,
    );
    for await (const { body } of lines) {
      if (body.type === 'run.started' && body.subjectId === idea.id) runId = body.runId;
      if (!('ideaId' in body) || body.ideaId !== idea.id) continue;
      if (body.type === 'idea.reply_begun') {
        // A message that came during another reply is answered by the next one.
        isOurs = body.upTo >= asked;
        if (isOurs && runId !== null) await printer.follow(api, runId);
      }
      if (body.type === 'idea.replied' && isOurs) {
        printer.finish(body.message.text);
        return { kind: 'replied' };
      }
      if (body.type === 'idea.reply_ended')
        return body.end === 'asked' ? { kind: 'asked' } : { kind: 'failed', why: body.why || body.end };
    }
    return { kind: 'failed', why: 'the connection ended' };
  } finally {
    leaving.abort();
  }
}

/** Prints a reply as it grows. */
class ReplyPrinter {
  readonly #terminal: Terminal | null;
  #printed = '';

  constructor(terminal: Terminal | null) {
    this.#terminal = terminal;
  }

  async follow(api: Api, run: string): Promise<void> {
    if (!this.#terminal) return;
    let output = '';
    for await (const { text } of api.runLog({ run, follow: true })) {
      output += text;
      const reply = plainText(replyInOutput(output));
      if (!reply.startsWith(this.#printed)) continue;
      this.#terminal.out.write(reply.slice(this.#printed.length));
      this.#printed = reply;
    }
  }

  /** The reply as it is stored may differ from what the agent wrote on the way. */
  finish(reply: string): void {
    if (!this.#terminal) return;
    const whole = plainText(reply);
    if (whole.startsWith(this.#printed)) this.#terminal.out.write(whole.slice(this.#printed.length));
    else this.#terminal.out.write(`\n\n${whole}`);
    this.#terminal.line();
  }
}
