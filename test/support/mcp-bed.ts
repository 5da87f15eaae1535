import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import type { AccessRole, Mode } from '@tidemill/contract';
import { DaemonBed } from './daemon-bed.ts';
import { connectMcp, type Era, textOf } from './mcp-client.ts';

interface Connecting {
  era?: Era;
  capabilities?: ClientOptions['capabilities'];
}

/** A daemon without an engine, and MCP clients of every role. */
export class McpBed {
  readonly served: DaemonBed;
  readonly #tokens = new Map<AccessRole, string>();
  readonly #clients: Client[] = [];

  static async open(files: Record<string, string> = {}): Promise<McpBed> {
    return new McpBed(await DaemonBed.open(files));
  }

  private constructor(served: DaemonBed) {
    this.served = served;
  }

  async connect(role: AccessRole, options: Connecting = {}): Promise<Client> {
    const token = this.#tokens.get(role) ?? (await this.served.api.addToken({ name: `the-${role}`, role })).token;
    this.#tokens.set(role, token);
    return this.connectWith(token, options);
  }

  async connectWith(token: string, options: Connecting = {}): Promise<Client> {
    const client = await connectMcp(this.served.url, token, options);
    this.#clients.push(client);
    return client;
  }

  /** A client as the agent of a run on a task has it. */
  async agentOf(taskNumber: number, mode: Mode = 'implement', folder = this.served.repository.root) {
    const { project: projectId, api, daemon } = this.served;
    const { task } = await api.task({ project: projectId, task: taskNumber });
    const runId = `run_of_${taskNumber}_${mode}`;
    const access = daemon.runAccess.open({
      ...{ runId, projectId, subjectId: task.id, taskNumber, mode, agent: 'claude', folder },
    });
    return { ...access, client: await this.connectWith(access.door.token) };
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.served.close();
  }
}

export interface Told {
  text: string;
  isError: boolean;
}

/** Calls a tool. */
export async function use(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Told> {
  const result = await client.callTool({ name, arguments: args });
  return { text: textOf(result), isError: result.isError === true };
}
