import type { Handlers } from '../handler.ts';
import { showBudget } from '../project/budget.ts';
import { refuseWithoutDaemon } from '../project/project.ts';
import { listAgents } from '../project/settings.ts';
import { emergencyImpact, emergencyStop } from '../worker/emergency.ts';
import { addToken, listTokens, revokeToken, whoami } from './access.ts';
import { doctor } from './doctor.ts';

export const daemonHandlers: Handlers<'daemon'> = {
  health: async ({ machine }) => machine.daemon ?? refuseWithoutDaemon('ask'),
  whoami,
  stop: async ({ machine }, { now }) => {
    machine.stop(now);
    return { stopping: true };
  },
  doctor,
  agents: listAgents,
  budget: showBudget,
  emergencyImpact,
  emergencyStop,
  tokens: listTokens,
  addToken,
  revokeToken,
};
