import { type Config, nearest } from '@tidemill/contract';
import type { Complaint } from './command-faults.ts';

const RESERVED = ['status', 'history', 'show', 'log', 'approve', 'decline', 'stop', 'rollback', 'help'];
const AT = ['delivery', 'environments'] as const;

/** Errors in the environments that the schema cannot find. */
export function deliveryFaults({ delivery }: Partial<Config>): Complaint[] {
  const environments = delivery?.environments ?? [];
  const names = environments.map(({ name }) => name);
  return environments.flatMap(({ name, after, env, pass }, index) => [
    ...(names.indexOf(name) < index
      ? [{ path: [...AT, index, 'name'], message: `duplicate environment "${name}"; names must be unique` }]
      : []),
    ...(RESERVED.includes(name)
      ? [
          {
            path: [...AT, index, 'name'],
            message: `"${name}" is a command of \`tidemill deliver\`; choose another name`,
          },
        ]
      : []),
    ...afterFaults(names, name, after, index),
    ...[...Object.keys(env).map((each) => ['env', each]), ...pass.map((each) => ['pass', each])].flatMap(
      ([where, variable]) => variableFaults(variable!, [...AT, index, where!]),
    ),
  ]);
}

function afterFaults(names: string[], name: string, after: string | undefined, index: number): Complaint[] {
  if (after === undefined || names.slice(0, index).includes(after)) return [];
  const path = [...AT, index, 'after'];
  if (names.includes(after)) {
    const why = after === name ? 'itself' : `"${after}", which is listed later`;
    return [{ path, message: `environment ${name} comes after ${why}; name one that is listed before it` }];
  }
  const guess = nearest(after, names);
  const advice = guess && guess !== name ? `did you mean "${guess}"?` : `the environments are ${names.join(', ')}`;
  return [{ path, message: `environment ${name} comes after the unknown "${after}"; ${advice}` }];
}

function variableFaults(name: string, path: Complaint['path']): Complaint[] {
  if (!/^[A-Za-z_]\w*$/.test(name)) return [{ path, message: `"${name}" is not a valid environment variable name` }];
  return name.startsWith('TIDEMILL_') ? [{ path, message: `${name} is set by Tidemill; choose another name` }] : [];
}
