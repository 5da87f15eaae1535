import type { Clock } from '../../../ports.ts';
import { GithubError, HOUR_MS, UNSAID_MS } from './github-error.ts';

/** Reading stops here, so that a result that is ready can still be written. */
const READ_SHARE = 0.9;
const LONGEST_PAUSE_MS = 15 * 60_000;

/** How many requests are left, by our own limit and by what GitHub says. */
export class Allowance {
  readonly #perHour: number;
  readonly #clock: Clock;
  /** When each counted request of the last hour was sent. */
  #sent: number[] = [];
  #closedUntil = 0;
  #refusals = 0;

  constructor(perHour: number, clock: Clock) {
    this.#perHour = perHour;
    this.#clock = clock;
  }

  /** Throws when no request may be sent now. */
  check(isWrite: boolean): void {
    const now = this.#clock.now();
    if (now < this.#closedUntil) throw limited('GitHub asked Tidemill to wait', this.#closedUntil);
    this.#sent = this.#sent.filter((at) => at > now - HOUR_MS);
    const most = isWrite ? this.#perHour : Math.floor(this.#perHour * READ_SHARE);
    if (this.#sent.length >= most)
      throw limited(`${this.#perHour} requests an hour are used up (github.requestsPerHour)`, this.#sent[0]! + HOUR_MS);
  }

  /** A 304 costs nothing. */
  count(): void {
    this.#sent.push(this.#clock.now());
  }

  /** GitHub refused because of a limit. Without a time from it, each refusal doubles the pause. */
  close(until: number): number {
    const now = this.#clock.now();
    const doubled = Math.min(UNSAID_MS * 2 ** this.#refusals, LONGEST_PAUSE_MS);
    this.#refusals += 1;
    this.#closedUntil = Math.max(this.#closedUntil, until, now + (until - now === UNSAID_MS ? doubled : 0));
    return this.#closedUntil;
  }

  /** Follows the headers of a good answer: no request is sent that is known to fail. */
  follow(headers: Record<string, string | number | undefined>): void {
    this.#refusals = 0;
    if (String(headers['x-ratelimit-remaining']) !== '0') return;
    const reset = Number(headers['x-ratelimit-reset']) * 1000;
    const latest = this.#clock.now() + HOUR_MS;
    if (Number.isFinite(reset)) this.#closedUntil = Math.max(this.#closedUntil, Math.min(reset, latest));
  }

  view(): { used: number; perHour: number; closedUntil: number | null } {
    const now = this.#clock.now();
    const used = this.#sent.filter((at) => at > now - HOUR_MS).length;
    return { used, perHour: this.#perHour, closedUntil: this.#closedUntil > now ? this.#closedUntil : null };
  }
}

const limited = (why: string, retryAt: number) =>
  new GithubError('rate_limited', `${why}, until ${new Date(retryAt).toISOString().slice(11, 16)} UTC.`, {
    hint: 'Nothing is lost. Tidemill goes on by itself then.',
    retryAt,
  });
