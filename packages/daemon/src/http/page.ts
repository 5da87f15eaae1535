import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { AppError } from '@tidemill/contract';
import { pageDir } from '../assets.ts';
import { callerOf, cookieName, tokenCaller } from './caller-check.ts';
import type { Listener } from './listener.ts';
import { MESSAGE_PAGES, MESSAGE_STYLE_HASH, type MessagePage, messageHtml, noLink } from './message-page.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const policy = (style: string, connect = '') =>
  `default-src 'self'; style-src ${style};${connect} object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The addresses that the page handles itself. */
const SERVER_NAMES = new Set(['v1', 'docs', 'mcp', 'metrics', 'assets']);
/** Plain words between slashes. A name with a dot is a file, and is found or not. */
const WORDS = /^(?:\/[A-Za-z0-9][A-Za-z0-9_-]{0,99}){1,5}$/;

/** The page draws every address that is nobody else's, and says so when it has nothing there. */
const isPagePath = (path: string) =>
  path === '/' || (WORDS.test(path) && !SERVER_NAMES.has(path.split('/')[1]!.toLowerCase()));

/**
 *   /?token=…  the page's link: sets the token as a cookie and redirects to `to`
 *   /board …   the page, for callers with the cookie
 *   /<file>    a file of the build; the name must be in the folder's own list
 * Returns false for other addresses.
 */
export async function answerPage(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  door: Listener,
): Promise<boolean> {
  if (url.pathname.startsWith('/v1/') || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
  if (!isForPage(request, url)) return sendListed(request, response, url, door);
  const given = url.pathname === '/' ? url.searchParams.get('token') : null;
  if (given !== null) await exchange(request, response, given, url, door);
  else if (!(await callerOf(request, door))) sendNotice(response, noLink(url.pathname + url.search));
  else if (!(await sendFile(request, response, 'index.html', door))) sendNotice(response, MESSAGE_PAGES.notBuilt);
  return true;
}

/** Programs name themselves by a header: they are told that an address does not exist. So is a path that climbs. */
function isForPage({ url: raw = '', headers }: IncomingMessage, { pathname }: URL): boolean {
  if (pathname === '/') return true;
  return isPagePath(pathname) && headers.authorization === undefined && raw.split('?')[0] === pathname;
}

async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  given: string,
  url: URL,
  door: Listener,
): Promise<void> {
  if (!(await tokenCaller(given, request, door))) {
    sendNotice(response, MESSAGE_PAGES.oldLink);
    return;
  }
  const secure = door.scheme === 'https' ? '; Secure' : '';
  response.writeHead(303, {
    ...HEADERS,
    // A session cookie: the daemon's own token changes with every start.
    'set-cookie': `${cookieName(door.port)}=${given}; HttpOnly; SameSite=Strict; Path=/${secure}`,
    'cache-control': 'no-store',
    location: destination(url.searchParams.get('to')),
  });
  response.end();
}

/** Only addresses of our own page, to prevent open redirects. */
function destination(to: string | null): string {
  if (!to || !URL.canParse(to, 'http://page')) return '/';
  const { origin, pathname, searchParams, search } = new URL(to, 'http://page');
  return origin === 'http://page' && isPagePath(pathname) && !searchParams.has('token') ? pathname + search : '/';
}

async function sendListed(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  door: Listener,
): Promise<boolean> {
  const name = url.pathname.slice(1);
  if (!(await builtFiles()).has(name)) return false;
  if (!(await callerOf(request, door))) {
    throw new AppError('unauthorized', 'the page needs a valid cookie', {
      hint: 'Open the link that `tidemill status` prints.',
    });
  }
  return sendFile(request, response, name, door);
}

/** By path in the build folder. Read every time, because the page may be built while the daemon runs. */
async function builtFiles(): Promise<Map<string, string>> {
  const folder = pageDir();
  if (folder === null) return new Map();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES);
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [relative(folder, path).split(sep).join('/'), path]));
}

async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  name: string,
  door: Listener,
): Promise<boolean> {
  const file = (await builtFiles()).get(name);
  if (file === undefined) return false;
  const body = await readFile(file);
  response.writeHead(200, {
    ...HEADERS,
    'content-type': TYPES[extname(name)],
    'content-length': body.length,
    // Not every browser treats the page's WebSocket as 'self'. The Host was checked.
    'content-security-policy': policy("'self'", ` connect-src 'self' ${socketScheme(door)}://${request.headers.host};`),
    // The build puts a hash of the content into the names below assets/.
    'cache-control': name.startsWith('assets/') ? 'private, max-age=31536000, immutable' : 'no-cache',
  });
  response.end(body);
  return true;
}

const socketScheme = ({ scheme }: Listener) => (scheme === 'https' ? 'wss' : 'ws');

export function sendHtml(response: ServerResponse, status: number, body: string, styleHash: string): void {
  response.writeHead(status, {
    ...HEADERS,
    'content-type': TYPES['.html'],
    'content-length': Buffer.byteLength(body),
    'content-security-policy': policy(`'${styleHash}'`),
    'cache-control': 'no-store',
  });
  response.end(body);
}

function sendNotice(response: ServerResponse, message: MessagePage): void {
  sendHtml(response, message.status, messageHtml(message), MESSAGE_STYLE_HASH);
}
