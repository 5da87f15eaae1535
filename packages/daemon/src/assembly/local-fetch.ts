import type { IncomingMessage } from 'node:http';

// Not by `import`: that evaluates every export of the module, and one of them loads all of Node's fetch.
const { request } = process.getBuiltinModule('node:http');

/**
 * The part of `fetch` that the contract's client needs, for the daemon on this machine. Loading Node's own takes longer
 * than most commands. Each request uses its own connection, so that none reuses one that the daemon has just closed.
 */
export const localFetch: typeof fetch = (input, init = {}) => {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const { method, signal, body } = init;
  const headers = init.headers as Record<string, string>;
  const sent = request(String(input), { method, headers, signal: signal ?? undefined, agent: false }, (message) =>
    resolve(responseOf(message)),
  );
  sent.on('error', reject);
  sent.end(body);
  return promise;
};

function responseOf(message: IncomingMessage): Response {
  const status = message.statusCode ?? 0;
  const text = async () => {
    const parts: Buffer[] = [];
    for await (const part of message) parts.push(part as Buffer);
    return Buffer.concat(parts).toString();
  };
  const getReader = () => {
    const parts = message[Symbol.asyncIterator]();
    return { read: () => parts.next(), cancel: async () => void message.destroy() };
  };
  const response = { status, ok: status >= 200 && status < 300, text, json: async () => JSON.parse(await text()) };
  return { ...response, body: { getReader } } as unknown as Response;
}
