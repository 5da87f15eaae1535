import { z } from 'zod';
import type { Clock } from '../../../ports.ts';
import type { GithubClient } from './client.ts';
import { isGithubError } from './github-error.ts';

/** How long it is remembered whether somebody may push. */
const KEPT_MS = 600_000;
/** Others cannot have push access, so nothing need be asked about them. */
const MAY_HAVE_PUSH = ['OWNER', 'MEMBER', 'COLLABORATOR'];

const Permission = z.object({ permission: z.string(), role_name: z.string().nullish() });
const PUSH = ['admin', 'maintain', 'write', 'push'];

/** Who may push, and who we are. */
export class GithubPeople {
  readonly #client: GithubClient;
  readonly #clock: Clock;
  readonly #isStrict: boolean;
  readonly #known = new Map<string, { mayPush: boolean; until: number }>();
  #self: Promise<string> | null = null;

  /** `isStrict`: a token that may not ask is an error. Otherwise nobody is trusted then. */
  constructor(client: GithubClient, clock: Clock, isStrict = false) {
    this.#client = client;
    this.#clock = clock;
    this.#isStrict = isStrict;
  }

  /** What GitHub says about a person's role counts, not what the person's association sounds like. */
  async mayPush(login: string, association?: string): Promise<boolean> {
    if (login === '' || (association !== undefined && !MAY_HAVE_PUSH.includes(association))) return false;
    const known = this.#known.get(login);
    if (known && known.until > this.#clock.now()) return known.mayPush;
    const mayPush = await this.#ask(login);
    this.#known.set(login, { mayPush, until: this.#clock.now() + KEPT_MS });
    return mayPush;
  }

  /** The login of the token, or of the App. */
  self(): Promise<string> {
    this.#self ??= this.#askSelf().catch((error: unknown) => {
      this.#self = null;
      throw error;
    });
    return this.#self;
  }

  async isSelf(login: string): Promise<boolean> {
    return plain(login) === plain(await this.self());
  }

  async #ask(login: string): Promise<boolean> {
    try {
      const path = `/collaborators/${encodeURIComponent(login)}/permission`;
      const { permission, role_name: role } = await this.#client.get(path, Permission);
      return PUSH.includes(permission) || PUSH.includes(role ?? '');
    } catch (error) {
      // Nobody of this name: a deleted account, or an App.
      if (isGithubError(error, 'not_found', 'gone')) return false;
      if (!this.#isStrict && isGithubError(error, 'missing_scope')) return false;
      throw error;
    }
  }

  async #askSelf(): Promise<string> {
    if ((await this.#client.kind()) === 'token')
      return (await this.#client.get('//user', z.object({ login: z.string() }))).login;
    const Viewer = z.object({ viewer: z.object({ login: z.string() }) });
    return (await this.#client.graphql('{ viewer { login } }', {}, Viewer)).viewer.login;
  }
}

/** Of an App, some answers have `name[bot]` and others `name`. */
const plain = (login: string) => login.toLowerCase().replace(/\[bot\]$/, '');
