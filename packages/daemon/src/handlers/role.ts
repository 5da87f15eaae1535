import { type AccessRole, AppError, type Caller, mayAct } from '@tidemill/contract';

export function checkRole(caller: Caller, needed: AccessRole, what: string): void {
  if (caller.run)
    throw new AppError('forbidden', `${what} is not for the agent of a run: its token is for MCP only`, {
      hint: 'Use the tools of the MCP server.',
    });
  if (mayAct(caller.role, needed)) return;
  throw new AppError('forbidden', `${what} needs the role ${needed}, but this token has the role ${caller.role}`, {
    hint: `Use a token with that role. An admin can create one: tidemill token add NAME --role ${needed}`,
  });
}
