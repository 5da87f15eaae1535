import type { Api, Caller } from '@tidemill/contract';
import { routes } from '@tidemill/contract';
import type { Services } from '../handlers/context.ts';
import { projectOf } from '../handlers/find.ts';
import { createLocalApi } from '../handlers/index.ts';
import { checkRole } from '../handlers/role.ts';
import { roleOfMode } from './roles.ts';
import { boundApi } from './run-rules.ts';
import { checkedApi, projectAround, type Session, unknownProject } from './session.ts';

/** For a request to the daemon: the same rights as for its routes, and less for the agent of a run. */
export function callerSession(services: Services, caller: Caller): Session {
  const own = createLocalApi(services, caller);
  const { run } = caller;
  if (run) {
    return {
      role: roleOfMode(run.mode),
      api: boundApi(own, run),
      by: run.agent,
      run,
      projectOf: () => projectOf(services, run.projectId),
      folderOf: () => run.folder,
    };
  }
  const api: Api = checkedApi(own, (name, input) => {
    checkRole(caller, routes[name].role, name);
    return input;
  });
  return {
    role: caller.role,
    api,
    by: caller.name ?? 'MCP client',
    run: null,
    async projectOf(root) {
      const known = await api.projects({});
      const found = root === undefined && known.length === 1 ? known[0] : projectAround(known, root ?? '');
      if (found) return found;
      throw unknownProject(known, root);
    },
    // The daemon reads for a caller on another machine: a file of the repository may hold what the caller must not see.
    folderOf: () => null,
  };
}
