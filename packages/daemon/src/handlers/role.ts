import { type AccessRole, type Api, AppError, type Caller, mayAct, type RouteName, routes } from '@tidemill/contract';

/** What a route asks of its caller. */
interface Needs {
  role: AccessRole;
  decides: boolean;
}

export function checkRole(caller: Caller, { role, decides }: Needs, what: string): void {
  if (caller.run)
    throw new AppError('forbidden', `${what} is not for the agent of a run: its token is for MCP only`, {
      hint: 'Use the tools of the MCP server.',
    });
  if (decides && (caller.agent !== undefined || caller.role === 'agent')) throw personDecides(what);
  if (mayAct(caller.role, role)) return;
  throw new AppError('forbidden', `${what} needs the role ${role}, but this token has the role ${caller.role}`, {
    hint: `Use a token with that role. An admin can create one: tidemill token add NAME --role ${role}`,
  });
}

/** An API that checks each call first. `check` throws, or returns the input to use. */
export function checkedApi(api: Api, check: (name: RouteName, input: object) => object): Api {
  return new Proxy(api, {
    get: (target, name) => {
      if (!(name in target)) return undefined;
      const route = name as RouteName;
      const call = target[route] as (input: object, ...rest: unknown[]) => unknown;
      return (input: object, ...rest: unknown[]) => call(check(route, input), ...rest);
    },
  });
}

/** The API for an agent: what a person decides is refused before it is sent. */
export const apiForAgent = (api: Api): Api =>
  checkedApi(api, (name, input) => {
    if (routes[name].decides) throw personDecides(`"${routes[name].summary}"`);
    return input;
  });

export const personDecides = (what: string) =>
  new AppError('forbidden', `${what} is for a person: an agent does not decide it`, {
    hint: 'Tell your person what you propose and why. They decide on the page or with the tidemill command.',
  });
