import { compiledTools } from './compiled.ts';
import { nodeTools } from './node.ts';
import { pythonTools } from './python.ts';
import type { Tool } from './tool.ts';

/** All that `init` knows, in the order in which gates and steps are proposed. */
export const TOOLS: Tool[] = [...nodeTools, ...pythonTools, ...compiledTools];
