import { type AccessRole, type Api, AppError, mayAct, type Project, type RouteName, routes } from '@tidemill/contract';
import { rootOf } from '../git/repository.ts';
import { checkedApi, checkRole } from '../handlers/role.ts';
import { projectAround, type Session, unknownProject } from './session.ts';

interface Place {
  /** Opens a connection to the daemon, or the store when none runs, for an agent or for the person. */
  connect(agent: string | null): Promise<{ api: Api; close(): Promise<void> }>;
  /** The project of a repository. It is registered on first use. */
  projectAt(api: Api, root: string): Promise<Project>;
  cwd: string;
  role: AccessRole;
  by: string;
  /** Whether the client belongs to a person. The agent of a run has none. */
  hasPerson: boolean;
}

/** For a person's own client on this machine, which works in a folder. A model uses it; the person is asked by forms. */
export function localSession({ connect, projectAt, cwd, role, by, hasPerson }: Place): Session {
  const agent = `${by} (MCP)`;
  const api = checkedApi(
    connectingApi(() => connect(agent)),
    (name, input) => {
      checkRole({ name: null, role, agent }, routes[name], name);
      return input;
    },
  );
  const own = hasPerson && mayAct(role, 'agent') ? connectingApi(() => connect(null)) : null;
  return {
    role,
    api,
    person: own,
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
        // The person started the client in this folder. A model cannot register another one.
        if (own && root === undefined) return projectAt(own, found);
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
function connectingApi(connect: () => ReturnType<Place['connect']>): Api {
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
