import type { Api, Caller } from '@tidemill/contract';
import { mayAct, routes } from '@tidemill/contract';
import type { Services } from '../handlers/context.ts';
import { projectOf } from '../handlers/find.ts';
import { createLocalApi } from '../handlers/index.ts';
import { checkedApi, checkRole } from '../handlers/role.ts';
import { roleOfMode } from './roles.ts';
import { boundApi } from './run-rules.ts';
import { projectAround, type Session, unknownProject } from './session.ts';

/** For a request to the daemon: the rights of the token without its decisions, and less for the agent of a run. */
export function callerSession(services: Services, caller: Caller): Session {
  const { run } = caller;
  if (run) {
    return {
      role: roleOfMode(run.mode),
      api: boundApi(createLocalApi(services, caller), run),
      person: null,
      by: run.agent,
      run,
      projectOf: () => projectOf(services, run.projectId),
      folderOf: () => run.folder,
    };
  }
  const by = caller.name ?? 'MCP client';
  const api = checkedCalls(services, { ...caller, agent: caller.agent ?? by });
  return {
    role: caller.role,
    api,
    // A token of an agent has no person behind it.
    person: caller.agent === undefined && mayAct(caller.role, 'operator') ? checkedCalls(services, caller) : null,
    by,
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

function checkedCalls(services: Services, caller: Caller): Api {
  return checkedApi(createLocalApi(services, caller), (name, input) => {
    checkRole(caller, routes[name], name);
    return input;
  });
}
