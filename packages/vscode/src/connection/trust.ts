import { type Api, AppError, type RouteName, routes } from '@tidemill/contract';

/** Also without trust: it only ends work. */
const ALWAYS: RouteName[] = ['emergencyStop'];

/** The same API; while the workspace is not trusted, it refuses whatever changes something. Commands say so before they ask. */
export function whileTrusted(api: Api, isTrusted: () => boolean): Api {
  const names = (Object.keys(routes) as RouteName[]).filter(
    (name) => routes[name].method !== 'GET' && !ALWAYS.includes(name),
  );
  const guarded = names.map((name) => {
    const call = api[name] as (...given: unknown[]) => unknown;
    return [name, async (...given: unknown[]) => (isTrusted() ? call(...given) : refuse())];
  });
  return { ...api, ...Object.fromEntries(guarded) } as Api;
}

function refuse(): never {
  throw new AppError('forbidden', 'You have not trusted this workspace, so Tidemill changes nothing here', {
    hint: 'Trust it with "Workspaces: Manage Workspace Trust".',
  });
}
