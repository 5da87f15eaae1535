import type { Writable } from 'node:stream';
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk';
import { createLines } from '../lines.ts';

/** Limit for a line in memory. A lost update is acceptable, a lost response is an error. */
const LONGEST_LINE = 8 * 1024 * 1024;

/** The lines of a child's standard input and output as messages for the protocol's library. */
export interface Wire {
  stream: Stream;
  /** Sets the child's standard input. Earlier messages wait for it. */
  connect(input: Writable): void;
  hear(chunk: Buffer): void;
  /** The output has ended. Received messages are still handled, then pending requests fail. */
  close(): void;
  /** Closes the child's input: there are no more requests. */
  endInput(): void;
}

interface WireEvents {
  /** Output that is not a message: plain text, and lines that are too long. */
  onNoise(text: string): void;
  /** A fatal error. */
  onFault(why: string): void;
}

export function createWire({ onNoise, onFault }: WireEvents): Wire {
  let input: Writable | null = null;
  let waiting: string[] = [];
  let incoming: ReadableStreamDefaultController<AnyMessage> | null = null;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      incoming = controller;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      const line = `${JSON.stringify(message)}\n`;
      if (input) input.write(line);
      else waiting.push(line);
    },
  });
  const lines = createLines(LONGEST_LINE, (line) => {
    const message = parseMessage(line);
    if (message) incoming?.enqueue(message);
    else if (line.trim() !== '') onNoise(`${line}\n`);
  });
  return {
    stream: { readable, writable },
    connect(stream) {
      input = stream;
      for (const line of waiting) input.write(line);
      waiting = [];
    },
    hear(chunk) {
      const lost = lines.push(chunk);
      if (lost === null) return;
      if (/"method"\s*:\s*"session\/update"/.test(lost)) onNoise('[an update of more than 8 MB is left out]\n');
      else onFault('the agent sent a message of more than 8 MB');
    },
    close() {
      incoming?.close();
      incoming = null;
    },
    endInput: () => void input?.end(),
  };
}

function parseMessage(line: string): AnyMessage | null {
  if (!line.trimStart().startsWith('{')) return null;
  try {
    const value = JSON.parse(line) as Record<string, unknown>;
    const isMessage = typeof value.method === 'string' || ('id' in value && ('result' in value || 'error' in value));
    return isMessage ? (value as unknown as AnyMessage) : null;
  } catch {
    return null; // not a message: plain output
  }
}
