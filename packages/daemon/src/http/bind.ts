import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { AppError } from '@tidemill/contract';
import { hostsFor, isLoopback } from './listener.ts';

// Not by `import`, which evaluates every export of the module, including a list of all certificates.
const { createSecureContext } = process.getBuiltinModule('node:tls');

/** How the daemon can be reached besides loopback. */
export interface BindOptions {
  host?: string;
  tlsCert?: string;
  tlsKey?: string;
  insecureHttp?: boolean;
  allowHost?: string[];
}

/** The checked options. */
export interface Bind {
  /** Further host names of the daemon. */
  names: string[];
  /** An address besides loopback. */
  outer: { host: string; tls: { cert: Buffer; key: Buffer } | null; isPublic: boolean } | null;
}

const bad = (message: string, hint: string, cause?: unknown) => new AppError('bad_input', message, { hint, cause });

/** Refuses a public address without encryption or tokens. */
export async function checkBind(options: BindOptions): Promise<Bind> {
  const { host = '127.0.0.1', tlsCert, tlsKey, insecureHttp = false } = options;
  const names = (options.allowHost ?? []).map(checkName);
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw bad('--tls-cert and --tls-key must be used together', 'Give both --tls-cert FILE and --tls-key FILE.');
  if (tlsCert !== undefined && insecureHttp)
    throw bad('--insecure-http and --tls-cert cannot be combined', 'Remove one of them.');
  const isPublic = host !== 'localhost' && !isLoopback(host);
  if (isPublic && tlsCert === undefined && !insecureHttp) {
    throw bad(
      `--host ${host} opens the daemon to other machines without encryption`,
      'Give --tls-cert FILE and --tls-key FILE, or --insecure-http on a network you trust.',
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
    `--host ${outer.host} opens the daemon to other machines, but there is no access token yet`,
    'Create one first: tidemill token add NAME --role viewer|operator|admin|worker',
  );
}

function checkName(name: string): string {
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:\d{1,5})?$/i.test(name) || isIPv6(name)) return name.toLowerCase();
  throw bad(`"${name}" is not a host name`, 'Give it as in the address bar, such as mill.example.org.');
}

async function readTls(certFile: string, keyFile: string): Promise<{ cert: Buffer; key: Buffer }> {
  const [cert, key] = await Promise.all([readPart(certFile, 'certificate'), readPart(keyFile, 'key')]);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const isPair = /mismatch/i.test(why);
    throw bad(
      isPair ? `the key ${keyFile} does not match ${certFile}` : `${certFile} and ${keyFile} cannot be used: ${why}`,
      'Use PEM files: the certificate with its chain, and its private key without a passphrase.',
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
    throw bad(`the ${what} cannot be read: ${why}`, 'Give a file that this user can read.', cause);
  }
}

/** The public address: the first given name, or else an address of this machine. */
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
