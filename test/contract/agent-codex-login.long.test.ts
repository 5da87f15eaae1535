import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { answer, turn } from '../support/model/responses.ts';
import { CodexBench, missing, RESULT } from './codex-bench.ts';

const status = await sandboxStatus();
const DAY_S = 86_400;

const token = (claims: object) =>
  [{ alg: 'none' }, claims, 'signed'].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');

/** What Codex keeps after a login with a subscription, by when it runs out. */
function tokens(name: string, expiresIn: number) {
  const about = { chatgpt_account_id: 'account', chatgpt_user_id: 'user', chatgpt_plan_type: 'plus' };
  const claims = { email: 'ada@example.invalid', 'https://api.openai.com/auth': about };
  const exp = Math.floor(Date.now() / 1000) + expiresIn;
  return {
    id_token: token({ ...claims, exp }),
    access_token: token({ ...claims, exp, jti: name }),
    refresh_token: `refresh-${name}`,
    account_id: 'account',
  };
}

/** The vendor's login server: each refresh token is good once. */
async function startLogin() {
  const used: string[] = [];
  const server = createServer(async (request, response) => {
    const { refresh_token } = JSON.parse(await text(request)) as { refresh_token: string };
    used.push(refresh_token);
    const { account_id: _, ...fresh } = tokens('new', 10 * DAY_S);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(fresh));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/token`;
  return { url, used, stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

describe.each(['off', 'auto'] as const)("a person's login, sandbox %s", (sandbox) => {
  let bench: CodexBench;
  beforeEach(async (context) => {
    context.skip(missing !== null, missing ?? '');
    context.skip(sandbox === 'auto' && !status.available, status.why);
    bench = await CodexBench.open(sandbox);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await bench?.close();
  });

  it('that has run out is renewed where the person keeps it', async () => {
    const own = path.join(bench.base, 'own');
    const file = path.join(own, 'auth.json');
    await mkdir(own);
    const old = { OPENAI_API_KEY: null, tokens: tokens('old', -DAY_S), last_refresh: '2020-01-01T00:00:00Z' };
    await writeFile(file, JSON.stringify(old), { mode: 0o600 });
    vi.stubEnv('CODEX_HOME', own);
    const login = await startLogin();
    try {
      const server = await bench.model([turn(answer(RESULT))]);
      const env = {
        OPENAI_BASE_URL: `${server.url}/v1`,
        HOME: bench.base,
        CODEX_REFRESH_TOKEN_URL_OVERRIDE: login.url,
      };
      const trial = bench.start(server.url, { key: null, config: { env } });
      expect(await trial.end, trial.output()).toMatchObject({ kind: 'result' });
      expect(login.used).toEqual(['refresh-old']);
      expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ tokens: { refresh_token: 'refresh-new' } });
      const sent = `${server.requests[0]?.headers.authorization}`.split('.')[1] ?? '';
      expect(JSON.parse(Buffer.from(sent, 'base64url').toString())).toMatchObject({ jti: 'new' });
      expect(await readdir(own)).toEqual(['auth.json']);
    } finally {
      await login.stop();
    }
  });
});
