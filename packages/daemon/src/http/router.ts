import { AppError, type RouteName, routes } from '@tidemill/contract';

/** The routes below one part of an address. */
interface Branch {
  words: Map<string, Branch>;
  /** A part that is a parameter; its name is the route's. */
  parameter: Branch | null;
  /** By method. */
  routes: Map<string, RouteName>;
}

const branch = (): Branch => ({ words: new Map(), parameter: null, routes: new Map() });

const root = branch();
const names = new Map<RouteName, string[]>();
for (const name of Object.keys(routes) as RouteName[]) {
  const { method, path } = routes[name];
  const parts = path.split('/').slice(1);
  names.set(
    name,
    parts.flatMap((part) => (part.startsWith(':') ? [part.slice(1)] : [])),
  );
  let at = root;
  for (const part of parts) {
    if (part.startsWith(':')) {
      at.parameter ??= branch();
      at = at.parameter;
    } else {
      const next = at.words.get(part) ?? branch();
      at.words.set(part, next);
      at = next;
    }
  }
  at.routes.set(method, name);
}

export interface Match {
  name: RouteName;
  params: Record<string, string>;
}

export function matchRoute(method: string, pathname: string): Match {
  const parts = pathname.split('/');
  const found = find(root, parts, 1, (at) => at.routes.has(method));
  if (found) {
    const name = found.at.routes.get(method)!;
    return {
      name,
      params: Object.fromEntries(names.get(name)!.map((key, index) => [key, decoded(found.values[index]!)])),
    };
  }
  const fitting = find(root, parts, 1, () => true);
  if (!fitting) throw new AppError('not_found', `no such address: ${pathname}`);
  throw new AppError('bad_input', `${pathname} accepts ${[...fitting.at.routes.keys()].join(' or ')}, not ${method}`);
}

/** Fixed words win over parameters, so `/tasks/import` is not a task named import. */
function find(
  at: Branch,
  parts: string[],
  index: number,
  isWanted: (at: Branch) => boolean,
): { at: Branch; values: string[] } | null {
  const part = parts[index];
  if (part === undefined) return at.routes.size > 0 && isWanted(at) ? { at, values: [] } : null;
  const word = at.words.get(part);
  const byWord = word ? find(word, parts, index + 1, isWanted) : null;
  if (byWord || !at.parameter || part === '') return byWord;
  const found = find(at.parameter, parts, index + 1, isWanted);
  return found && { at: found.at, values: [part, ...found.values] };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new AppError('bad_input', `"${text}" is not a valid part of a path`, { cause });
  }
}
