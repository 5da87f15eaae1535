import type { Readable, Writable } from 'node:stream';

// Own types for the used part of the vendor's SDK, because its package is not installed at compile time.

export interface UserMessage {
  type: 'user';
  message: { role: 'user'; content: string };
  parent_tool_use_id: null;
}

/** The SDK's request to start a process. */
export interface SpawnOptions {
  command: string;
  args: string[];
  env: Record<string, string | undefined>;
}

export interface SpawnedProcess {
  stdin: Writable;
  stdout: Readable;
  readonly killed: boolean;
  readonly exitCode: number | null;
  kill(signal: NodeJS.Signals): boolean;
}

type HookAnswer = Record<string, unknown>;
export interface HookMatcher {
  /** A tool's name; every tool without one. */
  matcher?: string;
  hooks: ((input: unknown) => Promise<HookAnswer>)[];
  /** Seconds. */
  timeout: number;
}

type Permission = { behavior: 'allow'; updatedInput: Record<string, unknown> } | { behavior: 'deny'; message: string };

export interface QueryOptions {
  abortController: AbortController;
  cwd: string;
  env: Record<string, string>;
  settingSources: never[];
  strictMcpConfig: true;
  /** Disables `@file` and `/command` in a task's text, because they would bypass the guards. */
  verbatimPrompts: true;
  /** Without it, requests of subagents that use no tool are not reported. */
  forwardSubagentText: true;
  /** Without it, a request is reported only when its answer is complete, and an aborted one never. */
  includePartialMessages: true;
  permissionMode: 'default';
  canUseTool(tool: string, input: Record<string, unknown>): Promise<Permission>;
  tools: string[];
  disallowedTools: string[];
  maxTurns: number;
  outputFormat: { type: 'json_schema'; schema: object };
  hooks: { PreToolUse: HookMatcher[]; Stop: HookMatcher[] };
  spawnClaudeCodeProcess(options: SpawnOptions): SpawnedProcess;
  /** Servers that the SDK made, by name. */
  mcpServers?: Record<string, unknown>;
  model?: string;
  resume?: string;
  pathToClaudeCodeExecutable?: string;
}

export interface SdkQuery extends AsyncIterable<unknown> {
  interrupt(): Promise<unknown>;
}
