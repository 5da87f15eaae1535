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
  for (const pattern of patterns) {
    const found = pattern.method === method ? pattern.expression.exec(pathname) : null;
    if (!found) continue;
    const groups = Object.entries(found.groups ?? {});
    return { name: pattern.name, params: Object.fromEntries(groups.map(([key, text]) => [key, decoded(text)])) };
  }
  const fitting = patterns.filter(({ expression }) => expression.test(pathname));
  if (fitting.length === 0) throw new AppError('not_found', `there is nothing at ${pathname}`);
  const methods = [...new Set(fitting.map((pattern) => pattern.method))].join(' or ');
  throw new AppError('bad_input', `${pathname} takes ${methods}, not ${method}`);
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
