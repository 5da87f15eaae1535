import { randomUUID } from 'node:crypto';
import { AppError, plainText, type ResearchConfig } from '@tidemill/contract';
import { type ChildHost, startChild } from '../process/child.ts';

/** More of a provider's answer is not read. */
const MOST_BYTES = 256 * 1024;
/** More of it is not kept. */
const MOST_CHARACTERS = 8_000;
const QUERY = '{query}';

export interface SearchOptions {
  config: ResearchConfig;
  host: ChildHost;
  env: NodeJS.ProcessEnv;
}

/** The configured search provider; undefined when none is set. What it returns is text, whatever it was. */
export function createSearch({ config, host, env }: SearchOptions): ((area: string) => Promise<string>) | undefined {
  const { command, url } = config;
  if (command) return async (area) => readable(await askCommand(command, area, config, host, env));
  if (url) return async (area) => readable(await askServer(url, area, config, env));
  return undefined;
}

async function askCommand(
  command: string[],
  area: string,
  { timeout, env: added, pass }: ResearchConfig,
  host: ChildHost,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  let words = '';
  const passed = Object.fromEntries(pass.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  const child = startChild({
    host,
    runId: `research_${randomUUID()}`,
    command: command.map((word) => word.replaceAll(QUERY, () => area)),
    cwd: host.root,
    env: { ...passed, ...added },
    stdin: `${area}\n`,
    network: true,
    networkSettings: true,
    readOnlyWorktree: true,
    timeoutMs: timeout,
    onOutput(chunk, from) {
      if (from === 'stderr') words = (words + chunk.toString('utf8')).slice(-500);
      else if (size < MOST_BYTES) chunks.push(chunk);
      if (from === 'stdout') size += chunk.length;
      if (size >= MOST_BYTES) void child.stop();
    },
  });
  const ended = await child.end;
  const text = Buffer.concat(chunks).toString('utf8').slice(0, MOST_BYTES);
  if (ended.kind === 'stopped' || (ended.kind === 'exited' && ended.exitCode === 0)) return text;
  if (ended.kind === 'timeout') throw tooSlow(timeout);
  if (ended.kind === 'unstartable') throw failed(ended.message);
  if (ended.kind === 'over_limit') throw failed(`it ${ended.message}`);
  throw failed(`it ended with ${ended.exitCode ?? ended.signal}${words ? `: ${plainText(words).trim()}` : ''}`);
}

async function askServer(url: string, area: string, config: ResearchConfig, env: NodeJS.ProcessEnv): Promise<string> {
  const address = new URL(url.replaceAll(encodeURIComponent(QUERY), QUERY).replaceAll(QUERY, encodeURIComponent(area)));
  if (!url.includes(QUERY)) address.searchParams.set('q', area);
  const headers = Object.fromEntries(
    Object.entries(config.headers).map(([name, value]) => [
      name,
      value.replace(/\$([A-Z_][A-Z0-9_]*)/g, (_, of) => env[of] ?? ''),
    ]),
  );
  const signal = AbortSignal.timeout(config.timeout);
  try {
    // Not followed: it could lead anywhere.
    const response = await fetch(address, {
      headers: { 'user-agent': 'tidemill', ...headers },
      redirect: 'manual',
      signal,
    });
    if (!response.ok) throw failed(`${address.host} answered ${response.status}`);
    return await textUpTo(response, MOST_BYTES);
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (signal.aborted) throw tooSlow(config.timeout);
    const cause = (error as Error).cause;
    throw failed(cause instanceof Error ? cause.message : (error as Error).message);
  }
}

async function textUpTo(response: Response, most: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= most) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, most);
}

const failed = (why: string) => new AppError('internal', `the search provider failed: ${why}`);
const tooSlow = (timeout: number) =>
  new AppError('internal', `the search provider gave no answer within ${Math.round(timeout / 1000)} s`);

/** Plain text: a page loses its scripts, styles and tags. */
export function readable(raw: string): string {
  const isMarkup = /<(?:!doctype|html|head|body|script|style|svg|iframe|div|p|a|img)\b/i.test(raw);
  const text = isMarkup
    ? raw
        .replace(/<(script|style|svg|iframe|noscript|template)\b[\s\S]*?(<\/\1\s*>|$)/gi, ' ')
        .replace(/<!--[\s\S]*?(-->|$)/g, ' ')
        .replace(/<\/(p|div|li|h[1-6]|tr)\s*>|<br\s*\/?>/gi, '\n')
        .replace(/<[^>]*>?/g, ' ')
    : raw;
  const clean = plainText(text)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n(?: ?\n)+ ?/g, '\n\n')
    .trim();
  if (clean === '') throw failed('it returned no text');
  return clean.length > MOST_CHARACTERS ? `${clean.slice(0, MOST_CHARACTERS)}\n[cut here]` : clean;
}
