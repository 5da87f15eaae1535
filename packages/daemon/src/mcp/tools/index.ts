import type { McpRole } from '../roles.ts';
import type { McpTool } from '../tool.ts';
import { createGuardTool } from './create-guard.ts';
import { evidenceTool } from './evidence.ts';
import { knowledgeTool } from './knowledge.ts';
import { offeredTools } from './operations.ts';
import { questionsTool } from './questions.ts';
import { searchLogsTool } from './search-logs.ts';
import { statusTool } from './status.ts';
import { tasksTool } from './tasks.ts';
import { getTraceTool, queryTracesTool, storeTraceTool } from './traces.ts';

/** In the order of `tools/list`, which does not change: clients keep it in a cache. */
const TOOLS: readonly McpTool[] = [
  statusTool,
  tasksTool,
  questionsTool,
  knowledgeTool,
  queryTracesTool,
  getTraceTool,
  storeTraceTool,
  createGuardTool,
  evidenceTool,
  searchLogsTool,
  ...offeredTools(),
];

export const toolsFor = (role: McpRole): readonly McpTool[] => TOOLS.filter(({ roles }) => roles.includes(role));
