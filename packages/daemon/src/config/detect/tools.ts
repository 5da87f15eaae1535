import { compiledTools } from './compiled.ts';
import { nativeTools } from './native.ts';
import { nodeTools } from './node.ts';
import { pythonTools } from './python.ts';
import type { Tool } from './tool.ts';

/** All tools that `init` knows, in the order in which it proposes gates and steps. */
export const TOOLS: Tool[] = [...nodeTools, ...pythonTools, ...compiledTools, ...nativeTools];
