import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { tokensOf } from '@tidemill/core';
import { scanLog } from '../packages/daemon/src/handlers/record/log-scan.ts';
import { McpBed, use } from '../test/support/mcp-bed.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { median } from './sample.ts';
import { inTemporaryFolder } from './temporary.ts';

const LOG_BYTES = 100_000_000;

/** What the MCP server costs a model, and how fast it answers. */
export async function run(options: BenchOptions): Promise<Section> {
  const bed = await McpBed.open();
  try {
    const { api, project } = bed.served;
    const tasks = Array.from({ length: 200 }, (_, index) => ({ title: `Task ${index}` }));
    await api.importTasks({ project, tasks });
    const { client: builder } = await bed.agentOf(1);
    const { client: reviewer } = await bed.agentOf(1, 'review');
    const admin = await bed.connect('admin');
    const rounds = sized(options, 50, 10);
    const listMs = await timed(rounds, () => builder.request({ method: 'tools/list' }));
    const callMs = await timed(rounds, () => use(builder, 'tasks', { op: 'list' }));
    const { text } = await use(builder, 'tasks', { op: 'list' });
    return {
      name: 'mcp',
      title: 'The MCP server',
      rows: [
        row({
          ...{ name: 'tools/list of a builder', value: await toolTokens(builder), unit: 'tokens' },
          target: { atMost: 2500 },
        }),
        row({ name: 'tools/list of a reviewer', value: await toolTokens(reviewer), unit: 'tokens' }),
        row({ name: 'tools/list of an admin', value: await toolTokens(admin), unit: 'tokens' }),
        row({ name: 'a list of 20 of 200 tasks', value: tokensOf(text), unit: 'tokens' }),
        row({ name: 'tools/list over HTTP', value: listMs, unit: 'ms' }),
        row({ name: 'that list of tasks over HTTP', value: callMs, unit: 'ms' }),
        row({ name: 'search a log of 100 MB', value: await searchMs(sized(options, 5, 2)), unit: 'ms' }),
      ],
      notes: ['Tokens are estimated from the bytes of the JSON, as everywhere in Tidemill.'],
    };
  } finally {
    await bed.close();
  }
}

const toolTokens = async (client: Client) => tokensOf(JSON.stringify((await client.listTools()).tools));

async function timed(rounds: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const from = performance.now();
    await work();
    times.push(performance.now() - from);
  }
  return median(times);
}

const searchMs = (rounds: number) =>
  inTemporaryFolder(async (folder) => {
    const file = join(folder, 'large.log');
    const out = createWriteStream(file);
    const block = `${'x'.repeat(79)}\n`.repeat(10_000);
    for (let written = 0; written < LOG_BYTES; written += block.length) if (!out.write(block)) await once(out, 'drain');
    out.end();
    await once(out, 'close');
    const query = { words: 'error', tail: false, from: 0, limit: 20 };
    const handle = await open(file);
    try {
      return await timed(rounds, () => scanLog(handle, query, new AbortController().signal));
    } finally {
      await handle.close();
    }
  });
