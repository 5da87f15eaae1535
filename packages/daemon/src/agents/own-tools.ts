import type { AgentRequest } from '../ports.ts';

/** The name of Tidemill's MCP server in the vendors' programs: their models see `mcp__tidemill__tasks`. */
export const MCP_SERVER = 'tidemill';
/** The token is in a variable of the vendor's program, and so in no file and no list of processes. */
export const MCP_TOKEN_VARIABLE = 'TIDEMILL_MCP_TOKEN';

/** The variable for the vendor's program; none where there is no server. */
export const mcpVariables = ({ mcp }: Pick<AgentRequest, 'mcp'>): Record<string, string> =>
  mcp ? { [MCP_TOKEN_VARIABLE]: mcp.token } : {};

/** Tidemill's own tools need no guard: they check by themselves what the run may do. */
export function withOwnTools(request: AgentRequest): AgentRequest {
  const { mcp, guard } = request;
  if (!mcp) return request;
  const isOwn = (tool: string) => tool.startsWith(`mcp__${MCP_SERVER}__`);
  return { ...request, guard: async (call) => (isOwn(call.tool) ? { kind: 'allow' } : guard(call)) };
}
