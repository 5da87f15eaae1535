import { isAbsolute } from 'node:path';
import { type Config, nearest } from '@tidemill/contract';
import type { Path } from './document.ts';

export interface Complaint {
  path: Path;
  message: string;
}

/** Errors in a project's commands that the schema cannot find: gates, `prepare`, `include`. */
export function commandFaults(config: Partial<Config>): Complaint[] {
  return [...namesTwice(config), ...needFaults(config), ...prepareFaults(config), ...surroundingsFaults(config)];
}

function namesTwice({ gates = [] }: Partial<Config>): Complaint[] {
  const seen = new Set<string>();
  return gates.flatMap(({ name }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ path: ['gates', index, 'name'], message: `duplicate gate name "${name}"; names must be unique` }];
  });
}

/** `needs` must name other gates, without cycles. */
function needFaults({ gates = [] }: Partial<Config>): Complaint[] {
  const names = gates.map(({ name }) => name);
  const unknown = gates.flatMap(({ name, needs }, index) =>
    needs
      .filter((other) => !names.includes(other))
      .map((other) => {
        const guess = nearest(other, names);
        const advice = guess && guess !== name ? `did you mean "${guess}"?` : `the gates are ${names.join(', ')}`;
        return {
          path: ['gates', index, 'needs'],
          message: `gate ${name} needs the unknown gate "${other}"; ${advice}`,
        };
      }),
  );
  if (unknown.length > 0) return unknown;
  const cycle = cycleOf(new Map(gates.map(({ name, needs }) => [name, needs])));
  if (!cycle) return [];
  const index = names.indexOf(cycle[0]!);
  const way =
    cycle.length === 1 ? `gate ${cycle[0]} needs itself` : `gates need each other: ${[...cycle, cycle[0]].join(' → ')}`;
  return [{ path: ['gates', index, 'needs'], message: `${way}; they can never run` }];
}

function cycleOf(needs: Map<string, string[]>): string[] | null {
  const done = new Set<string>();
  const visit = (name: string, above: string[]): string[] | null => {
    const at = above.indexOf(name);
    if (at >= 0) return above.slice(at);
    if (done.has(name)) return null;
    for (const other of needs.get(name) ?? []) {
      const found = visit(other, [...above, name]);
      if (found) return found;
    }
    done.add(name);
    return null;
  };
  for (const name of needs.keys()) {
    const found = visit(name, []);
    if (found) return found;
  }
  return null;
}

function prepareFaults({ prepare = [], include = [] }: Partial<Config>): Complaint[] {
  const outside = (glob: string) => isAbsolute(glob) || glob.split('/').includes('..');
  const why = (glob: string) => `"${glob}" is outside the repository; use paths relative to its root`;
  const seen = new Set<string>();
  return [
    ...prepare.flatMap(({ run, files }, index) => {
      const again = seen.has(run);
      seen.add(run);
      return [
        ...(again ? [{ path: ['prepare', index, 'run'], message: `duplicate step \`${run}\` in prepare` }] : []),
        ...files.filter(outside).map((glob) => ({ path: ['prepare', index, 'files'], message: why(glob) })),
      ];
    }),
    ...include.filter(outside).map((glob) => ({ path: ['include'], message: why(glob) })),
  ];
}

/** A proof in a sandbox has these only if its command names them. */
const PER_WORKTREE = new Set(['TIDEMILL_WORKTREE', 'TIDEMILL_PORT_BASE']);

/** Invalid variable names, and names that Tidemill sets itself. */
function surroundingsFaults({ gates = [], prepare = [] }: Partial<Config>): Complaint[] {
  const of = (key: 'gates' | 'prepare', list: { env: Record<string, string>; pass: string[] }[]) =>
    list.flatMap(({ env, pass }, index) =>
      [...Object.keys(env).map((name) => ['env', name]), ...pass.map((name) => ['pass', name])].flatMap(
        ([where, name]): Complaint[] => {
          const path = [key, index, where!];
          if (!/^[A-Za-z_]\w*$/.test(name!))
            return [{ path, message: `"${name}" is not a valid environment variable name` }];
          return name!.startsWith('TIDEMILL_') && !(where === 'pass' && PER_WORKTREE.has(name!))
            ? [{ path, message: `${name} is set by Tidemill; choose another name` }]
            : [];
        },
      ),
    );
  return [...of('gates', gates), ...of('prepare', prepare)];
}
