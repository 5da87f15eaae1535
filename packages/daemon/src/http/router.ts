import { AppError, type RouteName, routes } from '@tidemill/contract';

interface Pattern {
  name: RouteName;
  method: string;
  expression: RegExp;
}

/** Fixed words win over parameters, so `/tasks/import` is not a task named import. */
const patterns: Pattern[] = (Object.keys(routes) as RouteName[])
  .map((name) => ({ name, method: routes[name].method, expression: expressionOf(routes[name].path) }))
  .sort((a, b) => params(routes[a.name].path) - params(routes[b.name].path));

export interface Match {
  name: RouteName;
  params: Record<string, string>;
}

export function matchRoute(method: string, pathname: string): Match {
  const fitting = patterns.filter(({ expression }) => expression.test(pathname));
  if (fitting.length === 0) throw new AppError('not_found', `there is nothing at ${pathname}`);
  const found = fitting.find((pattern) => pattern.method === method);
  if (!found) {
    const methods = [...new Set(fitting.map((pattern) => pattern.method))].join(' or ');
    throw new AppError('bad_input', `${pathname} takes ${methods}, not ${method}`);
  }
  const groups = found.expression.exec(pathname)?.groups ?? {};
  return { name: found.name, params: Object.fromEntries(Object.entries(groups).map(([k, v]) => [k, decoded(v)])) };
}

function expressionOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}$`);
}

function params(path: string): number {
  return path.split(':').length;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new AppError('bad_input', `"${text}" is not a valid part of a path`, { cause });
  }
}
