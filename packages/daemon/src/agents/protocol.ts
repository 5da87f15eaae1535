import {
  type AgentEnvelope,
  type AskedQuestion,
  type ProgressReport,
  ReportedUsage,
  readUsage,
  TodoItem,
  type Usage,
} from '@tidemill/contract';
import { z } from 'zod';
import { readEnvelope, readQuestions } from './result.ts';

/**
 * Protocol 1, the way any program plugs in: what it prints is its output, but for single lines of JSON such as
 * `{"tidemill":"result","outcome":"pr_ready","summary":"…"}`, `{"tidemill":"usage",…}`, `{"tidemill":"progress",…}`,
 * `{"tidemill":"question","text":"…","type":"clarifying",…}`.
 */
export const PROTOCOL = 1;

/** A longer line is output and nothing else: nobody's result needs it, and holding it would cost memory without end. */
const LONGEST_LINE = 1024 * 1024;

export type ProposedResult = { envelope: AgentEnvelope } | { invalid: string };

export interface ProtocolHandlers {
  output(text: string): void;
  usage(usage: Usage): void;
  progress(report: ProgressReport): void;
  question(questions: AskedQuestion[]): void;
  result(result: ProposedResult): void;
}

export interface ProtocolReader {
  push(text: string): void;
  /** The end of the stream also ends the last line. */
  end(): void;
}

const RESULT_START = /^\s*\{\s*"tidemill"\s*:\s*"result"/;
const USAGE_START = /^\s*\{\s*"tidemill"\s*:\s*"usage"/;

export function createProtocolReader(handlers: ProtocolHandlers): ProtocolReader {
  /** The start of a line that may still turn out to be a message. */
  let pending = '';
  /** The rest of the current line is known to be output. */
  let isPlain = false;
  let out = '';

  const flush = () => {
    if (out !== '') handlers.output(out);
    out = '';
  };
  const settle = (line: string) => {
    const deliver = readMessage(line, handlers);
    if (!deliver) {
      out += line;
      return;
    }
    flush();
    deliver();
  };
  const take = (piece: string, isLineEnd: boolean) => {
    if (isPlain) {
      out += piece;
      isPlain = !isLineEnd;
      return;
    }
    pending += piece;
    if (isLineEnd) {
      settle(pending);
      pending = '';
    } else if (pending.length > LONGEST_LINE || !/^\s{0,64}(\{|$)/.test(pending)) {
      if (RESULT_START.test(pending)) handlers.result({ invalid: 'the result line is longer than 1 MB' });
      if (USAGE_START.test(pending)) handlers.usage(readUsage(null));
      out += pending;
      pending = '';
      isPlain = true;
    }
  };

  return {
    push(text) {
      for (let from = 0; from < text.length; ) {
        const newline = text.indexOf('\n', from);
        const to = newline === -1 ? text.length : newline + 1;
        take(text.slice(from, to), newline !== -1);
        from = to;
      }
      flush();
    },
    end() {
      if (pending !== '') settle(pending);
      pending = '';
      flush();
    },
  };
}

/** An unknown percent is left out, never guessed. */
const Progress = z.object({
  percent: z.number().min(0).max(100).optional().catch(undefined),
  text: z.string().optional().catch(undefined),
  todo: z
    .array(z.union([TodoItem, z.string().transform((text) => ({ text, status: 'pending' as const }))]))
    .optional()
    .catch(undefined),
});

/** How to deliver the message a line holds, or null when the line is output. */
function readMessage(line: string, handlers: ProtocolHandlers): (() => void) | null {
  if (!line.includes('"tidemill"')) return null;
  const parsed = parseObject(line);
  if (!parsed) {
    // No JSON: `NaN`, say. It was meant to tell of a request.
    if (USAGE_START.test(line)) return () => unreadable(line, handlers);
    if (!RESULT_START.test(line)) return null;
    return () => handlers.result({ invalid: 'the result line is not valid JSON' });
  }
  if (parsed.tidemill === 'result') return () => handlers.result(readEnvelope(parsed));
  if (parsed.tidemill === 'usage') {
    const usage = ReportedUsage.safeParse(parsed);
    if (!usage.success) return () => unreadable(line, handlers);
    // A line about usage stands for one request unless it says otherwise. No request costs nothing.
    const { costUsd, requests } = usage.data;
    const said = parsed.requests === 0 ? { requests, costUsd: costUsd ?? 0 } : { requests: requests || 1, costUsd };
    return () => handlers.usage({ ...usage.data, ...said });
  }
  if (parsed.tidemill === 'progress') {
    const progress = Progress.safeParse(parsed);
    return progress.success ? () => handlers.progress(progress.data) : null;
  }
  if (parsed.tidemill === 'question') {
    const { tidemill: _, questions, ...single } = parsed;
    const read = readQuestions(questions ?? single);
    if ('invalid' in read) return () => handlers.output(`[this question could not be read: ${read.invalid}]\n`);
    return () => handlers.question(read.questions);
  }
  return null;
}

/** It counts as a request, and can be read in the output. */
function unreadable(line: string, handlers: ProtocolHandlers): void {
  handlers.output(line);
  handlers.usage(readUsage(null));
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null; // the caller decides what a line that is not JSON means
  }
}
