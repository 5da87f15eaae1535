import type { McpRole } from '../roles.ts';
import type { McpTool } from '../tool.ts';
import { evidenceTool } from './evidence.ts';
import { questionsTool } from './questions.ts';
import { searchLogsTool } from './search-logs.ts';
import { statusTool } from './status.ts';
import { tasksTool } from './tasks.ts';

/** In the order of `tools/list`, which does not change: clients keep it in a cache. */
const TOOLS: readonly McpTool[] = [statusTool, tasksTool, questionsTool, evidenceTool, searchLogsTool];

export const toolsFor = (role: McpRole): readonly McpTool[] => TOOLS.filter(({ roles }) => roles.includes(role));
