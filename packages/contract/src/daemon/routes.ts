import { z } from 'zod';
import { AccessRole, Caller, NamedToken, TokenName } from '../access/access.ts';
import { by, get, post } from '../api/route.ts';
import { AccountView } from '../budget/budget.ts';
import { AgentView } from '../config/settings-view.ts';
import { ReactorView } from '../reactor/reactor.ts';
import { DaemonInfo, EmergencyImpact, Finding } from '../task/view.ts';

/** Routes of the daemon rather than of a project. */
export const daemonRoutes = {
  health: get('/v1/health', 'Says that the daemon is running, and since when', z.strictObject({}), DaemonInfo),
  whoami: get(
    '/v1/whoami',
    'Whose token this is and what it may do',
    z.strictObject({}),
    Caller.pick({ name: true, role: true }).extend({
      /** Who acts with it: the token's name, or for the daemon's own token the user that the daemon runs as. */
      person: z.string().optional(),
    }),
  ),
  stop: post(
    '/v1/stop',
    'Stops the daemon: at the next checkpoints, or immediately',
    z.strictObject({ now: z.boolean().default(false) }),
    z.object({ stopping: z.literal(true) }),
    { decides: true, role: 'admin' },
  ),
  doctor: get(
    '/v1/doctor',
    'Examines the machine, the store and the projects, and lists what follows the log',
    z.strictObject({}),
    z.object({
      ok: z.boolean(),
      findings: z.array(Finding),
      /** Null: no daemon is running, so nothing follows the log. */
      reactors: z.array(ReactorView).nullable().default(null),
    }),
  ),
  agents: get(
    '/v1/agents',
    'Looks for the known agent programs on this machine',
    z.strictObject({ project: z.string().min(1).optional() }),
    z.array(AgentView),
  ),
  budget: get(
    '/v1/budget',
    'Spending and limits of each budget, by project and in total',
    z.strictObject({}),
    z.array(AccountView),
  ),
  emergencyImpact: get('/v1/emergency', 'What an emergency stop would end', z.strictObject({}), EmergencyImpact),
  emergencyStop: post(
    '/v1/emergency',
    'Kills every agent of every project within seconds; work is kept. Deliveries are stopped and rolled back',
    z.strictObject({ by, reason: z.string().trim().max(1000).default('asked for') }),
    z.object({
      workers: z.array(z.string()),
      tasks: z.array(z.number()),
      /** `D3 to staging` */
      deliveries: z.array(z.string()).default([]),
    }),
    { decides: true },
  ),
  tokens: get('/v1/tokens', 'The tokens that were created', z.strictObject({}), z.array(NamedToken), {
    role: 'admin',
  }),
  addToken: post(
    '/v1/tokens',
    'Creates a token with a name and a role; it is shown only once',
    z.strictObject({ name: TokenName, role: AccessRole }),
    NamedToken.extend({ token: z.string() }),
    { decides: true, role: 'admin' },
  ),
  revokeToken: post(
    '/v1/tokens/:name/revoke',
    'Revokes a token immediately',
    z.strictObject({ name: TokenName }),
    z.object({ revoked: z.string() }),
    { decides: true, role: 'admin' },
  ),
};
