import { type McpOffer, type RouteName, routes } from '@tidemill/contract';
import type { z } from 'zod';
import { shown, told } from '../reply.ts';
import { ADDERS, AGENTS, type McpRole, READERS } from '../roles.ts';
import { type McpTool, tool } from '../tool.ts';

const ROLES: Record<McpOffer<unknown>['for'], readonly McpRole[]> = {
  everybody: [...READERS, ...AGENTS],
  readers: READERS,
  adders: ADDERS,
};

/** The tools that follow from rows of the contract's routes. */
export function offeredTools(): McpTool[] {
  return (Object.keys(routes) as RouteName[]).flatMap((route) => {
    const offer = routes[route].mcp as McpOffer<unknown> | undefined;
    return offer ? [toolOf(route, offer)] : [];
  });
}

function toolOf(route: RouteName, offer: McpOffer<unknown>): McpTool {
  const { input, method, summary } = routes[route];
  const { project, by, ...shape } = input.shape as Record<string, z.ZodType>;
  const roles = ROLES[offer.for];
  const changesFor = method === 'GET' ? [] : roles;
  return tool(
    offer.tool,
    offer.about ?? summary,
    { roles, changesFor, input: shape },
    async ({ session, signal }, { projectRoot, ...given }) => {
      const about = project ? { project: (await session.projectOf(projectRoot)).id } : {};
      const signed = by ? { by: session.by } : {};
      const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      const call = session.api[route] as (input: object, signal: AbortSignal) => Promise<unknown>;
      const { head, data } = offer.says(await call({ ...about, ...signed, ...named }, signal));
      return data === undefined ? told(head) : shown(head, data);
    },
  );
}
