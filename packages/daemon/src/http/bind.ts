import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { AppError } from '@tidemill/contract';
import { hostsFor, isLoopback } from './door.ts';

// Not by `import`: that evaluates every export of the module, and one of them is a list of all certificates.
const { createSecureContext } = process.getBuiltinModule('node:tls');

/** How a person wants the daemon to be reached, beside loopback. */
export interface BindOptions {
  host?: string;
  tlsCert?: string;
  tlsKey?: string;
  insecureHttp?: boolean;
  allowHost?: string[];
}

/** The same, checked: everything it needs is there. */
export interface Bind {
  /** Names the daemon may be called by, besides its own. */
  names: string[];
  /** An address beside loopback. */
  outer: { host: string; tls: { cert: Buffer; key: Buffer } | null; isPublic: boolean } | null;
}

const bad = (message: string, hint: string, cause?: unknown) => new AppError('bad_input', message, { hint, cause });

/** Refuses what would be open to others without lock or key. */
export async function checkBind(options: BindOptions): Promise<Bind> {
  const { host = '127.0.0.1', tlsCert, tlsKey, insecureHttp = false } = options;
  const names = (options.allowHost ?? []).map(checkName);
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw bad('a certificate and its key come together', 'Give both --tls-cert FILE and --tls-key FILE.');
  if (tlsCert !== undefined && insecureHttp)
    throw bad('--insecure-http and a certificate contradict each other', 'Leave one of them out.');
  const isPublic = host !== 'localhost' && !isLoopback(host);
  if (isPublic && tlsCert === undefined && !insecureHttp) {
    throw bad(
      `--host ${host} opens the daemon to other machines, and nothing would be encrypted`,
      'Give --tls-cert FILE and --tls-key FILE; or --insecure-http, where the network itself is trusted.',
    );
  }
  const tls = tlsCert === undefined ? null : await readTls(tlsCert, tlsKey!);
  const isDefault = !tls && (host === '127.0.0.1' || host === 'localhost');
  return { names, outer: isDefault ? null : { host, tls, isPublic } };
}

/** Tokens are in the store, which is opened after the rest was found in order. */
export function checkKeys({ outer }: Bind, tokens: unknown[]): void {
  if (!outer?.isPublic || tokens.length > 0) return;
  throw bad(
    `--host ${outer.host} opens the daemon to other machines, and nobody has a token yet`,
    'Make one first: tidemill token add NAME --role viewer|operator|admin|worker',
  );
}

function checkName(name: string): string {
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$/i.test(name) || isIPv6(name)) return name.toLowerCase();
  throw bad(`"${name}" is no host name`, 'Give it as in the address bar, such as mill.example.org.');
}

async function readTls(certFile: string, keyFile: string): Promise<{ cert: Buffer; key: Buffer }> {
  const [cert, key] = await Promise.all([readPart(certFile, 'certificate'), readPart(keyFile, 'key')]);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const isPair = /mismatch/i.test(why);
    throw bad(
      isPair
        ? `the key ${keyFile} does not belong to ${certFile}`
        : `${certFile} and ${keyFile} cannot be used: ${why}`,
      'Both are PEM files: the certificate with its chain, and its private key without a passphrase.',
      cause,
    );
  }
  return { cert, key };
}

async function readPart(file: string, what: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw bad(`the ${what} cannot be read: ${why}`, 'Name a file that this user may read.', cause);
  }
}

/** How others address the daemon: by the first name it was given, else by an address of this machine. */
export function outerUrl({ host, tls }: NonNullable<Bind['outer']>, names: string[], port: number): string {
  const isEvery = host === '0.0.0.0' || host === '::';
  const name = names[0] ?? (isEvery ? outerAddress() : host);
  const scheme = tls ? 'https' : 'http';
  return `${scheme}://${hostsFor([name], scheme, port)[0]}`;
}

function outerAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
