import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { AppError } from '@tidemill/contract';
import { pageDir } from '../assets.ts';
import { cookieName, isKnown, isToken } from './guard.ts';
import { NOTICE_STYLE_HASH, NOTICES, type Notice, noticeHtml } from './notice.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const policy = (style: string) =>
  `default-src 'self'; style-src ${style}; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

interface Visit {
  url: URL;
  token: string;
  port: number;
}

/**
 *   /?token=…  the link a person was given: its token becomes a cookie, and leaves the address
 *   /          the page, for whoever has the cookie
 *   /<file>    a file of the build, and nothing else: the name must be on the folder's own list
 * False when the address is none of these.
 */
export async function answerPage(request: IncomingMessage, response: ServerResponse, visit: Visit): Promise<boolean> {
  const { url, token, port } = visit;
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  if (url.pathname !== '/') return !url.pathname.startsWith('/v1/') && sendListed(request, response, visit);
  const given = url.searchParams.get('token');
  if (given !== null) exchange(response, given, visit);
  else if (!isKnown(request, token, port)) sendNotice(response, NOTICES.noLink);
  else if (!(await sendFile(response, 'index.html'))) sendNotice(response, NOTICES.notBuilt);
  return true;
}

function exchange(response: ServerResponse, given: string, { token, port }: Visit): void {
  if (!isToken(given, token)) {
    sendNotice(response, NOTICES.oldLink);
    return;
  }
  response.writeHead(303, {
    ...HEADERS,
    // Without an age: it ends with the browser, as the token ends with the daemon.
    'set-cookie': `${cookieName(port)}=${token}; HttpOnly; SameSite=Strict; Path=/`,
    'cache-control': 'no-store',
    location: '/',
  });
  response.end();
}

async function sendListed(
  request: IncomingMessage,
  response: ServerResponse,
  { url, token, port }: Visit,
): Promise<boolean> {
  const name = url.pathname.slice(1);
  if (!(await builtFiles()).has(name)) return false;
  if (!isKnown(request, token, port)) {
    throw new AppError('unauthorized', 'the page is only for whoever opened its link', {
      hint: '`tidemill status` prints the link.',
    });
  }
  return sendFile(response, name);
}

/** By path from the build's folder. Looked up anew each time: the page may be built while we run. */
async function builtFiles(): Promise<Map<string, string>> {
  const folder = pageDir();
  if (folder === null) return new Map();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES);
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [relative(folder, path).split(sep).join('/'), path]));
}

async function sendFile(response: ServerResponse, name: string): Promise<boolean> {
  const file = (await builtFiles()).get(name);
  if (file === undefined) return false;
  const body = await readFile(file);
  response.writeHead(200, {
    ...HEADERS,
    'content-type': TYPES[extname(name)],
    'content-length': body.length,
    'content-security-policy': policy("'self'"),
    // The build puts a hash of the content into the names below assets/.
    'cache-control': name.startsWith('assets/') ? 'private, max-age=31536000, immutable' : 'no-cache',
  });
  response.end(body);
  return true;
}

function sendNotice(response: ServerResponse, notice: Notice): void {
  const body = noticeHtml(notice);
  response.writeHead(notice.status, {
    ...HEADERS,
    'content-type': TYPES['.html'],
    'content-length': Buffer.byteLength(body),
    'content-security-policy': policy(`'${NOTICE_STYLE_HASH}'`),
    'cache-control': 'no-store',
  });
  response.end(body);
}
