import { type RouteName, routes } from '@tidemill/contract';
import { expect, test } from 'vitest';
import type { ServedDaemon } from './served-daemon.ts';

const NASTY = [
  '../../etc/passwd',
  '../../../../../../../../etc/passwd',
  '/etc/passwd',
  '..\\..\\etc\\passwd',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '..%2f..%2fetc%2fpasswd',
  '....//....//etc/passwd',
  'file:///etc/passwd',
  'x\0../../etc/passwd',
  '-O/tmp/x',
  '--upload-pack=touch /tmp/x',
  '$(id)',
  "'; DROP TABLE tasks; --",
  '__proto__',
  '',
  ' ',
  '9'.repeat(30),
  '-1',
  'é漢\u202e',
  'a'.repeat(9000),
];
/** Not for the walk: they would end the daemon, or make every later call meaningless. */
const LEFT_OUT: RouteName[] = ['stop', 'emergencyStop', 'attachProject'];
export const isPasswd = /root:[^:]*:0:0:/;

export function pathOf(name: RouteName, values: Record<string, string>): string {
  return routes[name].path.replace(/:(\w+)/g, (_, key: string) => encodeURIComponent(values[key] ?? 'x'));
}

/** A daemon with a project and a task, for requests to reach as much as possible. */
export interface Target {
  served: ServedDaemon;
  task: number;
}

/** A request to a route in which one input is nasty and the others lead as far in as possible. */
function requestWith(
  { served, task }: Target,
  name: RouteName,
  key: string,
  value: string,
): Promise<{ status: number; text: string }> {
  const { method, path, input } = routes[name];
  const found: Record<string, string> = {
    project: served.project,
    task: String(task),
    mode: 'implement',
    worker: 'all',
  };
  const values = { ...found, [key]: value };
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map((match) => match[1]!));
  const rest = Object.keys(input.shape).filter((each) => !inPath.has(each));
  if (method === 'GET') {
    const query = new URLSearchParams(rest.includes(key) ? { [key]: value } : {});
    return served.ask(`${pathOf(name, values)}?${query}`);
  }
  const filler: Record<string, unknown> = { ref: 'x', to: 'x', root: 'x', text: 'x', hash: 'x', path: 'x', note: 'x' };
  const body = Object.fromEntries(
    rest.filter((each) => each in filler || each === key).map((each) => [each, filler[each]]),
  );
  return served.ask(pathOf(name, values), {
    method,
    body: JSON.stringify({ ...body, ...(rest.includes(key) ? { [key]: value } : {}) }),
  });
}

/** The value that leads furthest where it is taken for a path. */
const CLIMB = NASTY[1];

/** Every parameter of every route gets all values, or one of `every` values, in turn, and always one that climbs. */
export function refusesNastyValues(target: () => Target, every = 1): void {
  const walked = (Object.keys(routes) as RouteName[]).filter((name) => !LEFT_OUT.includes(name));

  test.each(walked.map((name, order) => ({ name, order })))(
    '$name: nothing in it breaks the daemon or leads to a file',
    async ({ name, order }) => {
      for (const [position, key] of Object.keys(routes[name].input.shape).entries()) {
        const isDue = (index: number) => index % every === (order + position) % every;
        for (const value of NASTY.filter((each, index) => isDue(index) || each === CLIMB)) {
          const { status, text } = await requestWith(target(), name, key, value);
          const asked = { name, key, value: value.slice(0, 60) };
          const isBroken = status === 500 || /"code":"internal"/.test(text);
          expect({ ...asked, text: isBroken ? text : '' }).toEqual({ ...asked, text: '' });
          expect(text).not.toMatch(isPasswd);
        }
      }
    },
    300_000,
  );

  test('leaves the daemon running', async () => {
    const { served, task } = target();
    expect((await served.api.task({ project: served.project, task })).task.number).toBe(task);
  });
}
