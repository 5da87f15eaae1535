import type { Clock, Forge } from '../../packages/daemon/src/ports.ts';
import { GithubError } from '../../packages/daemon/src/trackers/github/client/github-error.ts';
import type { Faults, FaultyStore } from './faulty-store.ts';
import type { Random } from './random.ts';

const never = <T>(): Promise<T> => new Promise(() => undefined);

/**
 * The forge as one daemon instance sees it: requests take time, fail, or are the last thing that it does. A request that
 * fails took effect half of the time: only its answer was lost.
 */
export function faultyForge(
  forge: Forge,
  about: { clock: Clock; random: Random; store: FaultyStore; faults(): Faults; planted: Partial<Forge> },
): Forge {
  const { clock, random, store, planted } = about;
  let limitedUntil = 0;
  const call = async (act: () => Promise<unknown>): Promise<unknown> => {
    await clock.sleep(random.int(1500));
    if (store.isDead) return never();
    const { crash, forge: failure = 0 } = about.faults();
    if (clock.now() < limitedUntil && failure > 0)
      throw new GithubError('rate_limited', 'the limit is reached', { retryAt: limitedUntil });
    if (random.chance(crash)) {
      if (random.chance(0.5)) await act();
      store.kill();
      return never();
    }
    const isFailing = random.chance(failure);
    if (isFailing && random.chance(0.1)) limitedUntil = clock.now() + random.int(600_000);
    if (isFailing && random.chance(0.5)) throw new GithubError('unreachable', 'no answer in time');
    const result = await act();
    if (isFailing) throw new GithubError(random.pick(['unreachable', 'bad_answer'] as const), 'the answer was lost');
    return store.isDead ? never() : result;
  };
  return new Proxy(forge, {
    get(target, key) {
      const member = (Reflect.get(planted, key) ?? Reflect.get(target, key)) as unknown;
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => call(() => member.apply(target, args) as Promise<unknown>);
    },
  });
}
