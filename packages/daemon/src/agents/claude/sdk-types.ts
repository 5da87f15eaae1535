import type { Readable, Writable } from 'node:stream';

// The part of the vendor's SDK that is used, in our own words: its package is not there when Tidemill is compiled.

export interface UserMessage {
  type: 'user';
  message: { role: 'user'; content: string };
  parent_tool_use_id: null;
}

/** What the SDK wants started, in place of starting it itself. */
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
  /** No `@file` and no `/command` in a task's text means anything: they would be read past the guards. */
  verbatimPrompts: true;
  /** Without it a subagent's requests that use no tool are not told of. */
  forwardSubagentText: true;
  /** Without it a request is told of only when its answer is complete, and one that is broken off never. */
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
