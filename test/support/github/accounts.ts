import { type Answer, type Asked, answer } from './exchange.ts';

export interface Account {
  login: string;
  token: string;
  /** What the token may do. A classic token without `repo` reads public data only. */
  scopes: string[];
  kind: 'token' | 'app';
  isValid: boolean;
}

/** Tokens and who they belong to. A person can have several. */
export class Accounts {
  readonly #byToken = new Map<string, Account>();

  add(login: string, token: string, scopes: string[] = ['repo', 'project'], kind: Account['kind'] = 'token'): Account {
    const account: Account = { login, token, scopes, kind, isValid: true };
    this.#byToken.set(token, account);
    return account;
  }

  of(token: string | null): Account | null {
    return token === null ? null : (this.#byToken.get(token) ?? null);
  }

  tokenOf(login: string): string {
    for (const account of this.#byToken.values()) if (account.login === login) return account.token;
    throw new Error(`the emulated GitHub has no user ${login}`);
  }

  /** The token is revoked, or it expired: GitHub says the same. */
  revoke(token: string): void {
    const account = this.#byToken.get(token);
    if (account) account.isValid = false;
  }

  restore(token: string): void {
    const account = this.#byToken.get(token);
    if (account) account.isValid = true;
  }

  /** Null when the request may go on. */
  refusal({ token, method, path }: Asked): Answer | null {
    if (token === null) return method === 'GET' ? null : answer(401, { message: 'Requires authentication' });
    // The JSON web token with which an App asks for its installation's token.
    if (token.split('.').length === 3 && path.startsWith('/app')) return null;
    const account = this.of(token);
    if (!account?.isValid) return answer(401, { message: 'Bad credentials' });
    const needed = path === '/graphql' ? 'project' : 'repo';
    if (account.kind === 'app' || account.scopes.includes(needed) || (method === 'GET' && needed === 'repo'))
      return null;
    if (path === '/graphql')
      return answer(200, {
        errors: [
          {
            type: 'INSUFFICIENT_SCOPES',
            message: `Your token has not been granted the required scopes to execute this query. The field requires one of the following scopes: ['read:project'], but your token has only been granted the: [${account.scopes.map((scope) => `'${scope}'`).join(', ')}] scopes.`,
          },
        ],
      });
    return answer(403, { message: 'Resource not accessible by personal access token' });
  }
}

/** The token of an Authorization header: bearer, or the password of basic authentication as git sends it. */
export function tokenOf(header: string | undefined): string | null {
  if (!header) return null;
  const [kind = '', value = ''] = header.split(' ');
  if (kind.toLowerCase() !== 'basic') return value || null;
  const [, ...password] = Buffer.from(value, 'base64').toString('utf8').split(':');
  return password.join(':') || null;
}
