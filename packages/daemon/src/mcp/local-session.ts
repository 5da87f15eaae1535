import { type AccessRole, type Api, AppError, mayAct, type Project, type RouteName, routes } from '@tidemill/contract';
import { rootOf } from '../git/repository.ts';
import { checkRole } from '../handlers/role.ts';
import { checkedApi, projectAround, type Session, unknownProject } from './session.ts';

interface Place {
  /** Opens a connection to the daemon, or the store when none runs. */
  connect(): Promise<{ api: Api; close(): Promise<void> }>;
  /** The project of a repository. It is registered on first use. */
  projectAt(api: Api, root: string): Promise<Project>;
  cwd: string;
  role: AccessRole;
  by: string;
}

/** For a person's own client on this machine, which works in a folder. */
export function localSession({ connect, projectAt, cwd, role, by }: Place): Session {
  const caller = { name: null, role };
  const api = checkedApi(connectingApi(connect), (name, input) => {
    checkRole(caller, routes[name].role, name);
    return input;
  });
  return {
    role,
    api,
    by,
    run: null,
    async projectOf(root) {
      const folder = root ?? cwd;
      const found = await rootOf(folder).catch((error: unknown) => {
        if (error instanceof AppError) return error;
        throw error;
      });
      if (typeof found === 'string') {
        const [known] = await api.projects({ root: found });
        if (known) return known;
        // A client that may not register projects sees only those that are.
        if (mayAct(role, routes.registerProject.role)) return projectAt(api, found);
      }
      const projects = await api.projects({});
      const only = root === undefined && projects.length === 1 ? projects[0] : projectAround(projects, folder);
      if (only) return only;
      throw found instanceof AppError && projects.length === 0 ? found : unknownProject(projects, folder);
    },
    // The client runs as the same user: it can read these files anyway.
    folderOf: ({ root }) => root,
  };
}

/**
 * A connection per call: a client's session lasts for hours, and meanwhile the daemon may start, stop, or be another one.
 */
function connectingApi(connect: Place['connect']): Api {
  const entries = (Object.keys(routes) as RouteName[])
    .filter((name) => !routes[name].stream)
    .map((name) => [
      name,
      async (...input: [object, AbortSignal?]) => {
        const { api, close } = await connect();
        try {
          return await (api[name] as (...all: typeof input) => Promise<unknown>)(...input);
        } finally {
          await close();
        }
      },
    ]);
  return Object.fromEntries(entries) as Api;
}
