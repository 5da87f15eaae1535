import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentConfig } from '@tidemill/contract';
import { createAgentFor } from '../../../packages/daemon/src/agents/agent-for.ts';
import type { AgentEnd, ToolCall } from '../../../packages/daemon/src/ports.ts';
import { Bench, type Trial, watch } from '../../contract/agent-bench.ts';
import { claude, claudeAcp, codex, type Installed, opencode, type Vendor } from '../mission/vendors.ts';
import { OTHER_MODEL } from '../opencode.ts';
import { BRIEF, BUSY_FILE, type CaseRun, type TranscriptCase, type VendorName } from './cases.ts';
import { createPlain } from './plain.ts';
import { type Entry, fileOf, type Part, type Places, STOP_FILE, type Transcript } from './transcript.ts';

/** A vendor's program, and how a stand-in for it is started. */
export interface RecordedVendor {
  vendor: Vendor;
  name: VendorName;
  /** One that it offers beside the usual. */
  model: string;
  /** Null: its own choice. */
  usual: string | null;
  as(program: string): object;
}

export const RECORDED: RecordedVendor[] = [
  { vendor: claude, name: 'claude', model: 'claude-haiku-4-5', usual: null, as: (program) => ({ program }) },
  {
    ...{ vendor: codex, name: 'codex', model: 'gpt-5.5', usual: 'gpt-5.5' },
    // The model is the one that a run asks for.
    as: (program) => ({ program, model: undefined }),
  },
  {
    ...{ vendor: opencode, name: 'opencode', model: `anthropic/${OTHER_MODEL}`, usual: null },
    as: (program) => ({ preset: 'opencode', command: [program, 'acp'] }),
  },
  {
    ...{ vendor: claudeAcp, name: 'claude-agent-acp', model: 'haiku', usual: null },
    as: (program) => ({ preset: 'claude-agent-acp', command: [program] }),
  },
];

/** Resolves when it is time to stop the run. */
type Stopping = (over: AbortSignal) => Promise<void>;

/** What one run of the agent came to. */
export interface Seen extends Trial {
  ended: AgentEnd;
  asked: ToolCall[];
}

const sourceOf = (name: string) => path.join(import.meta.dirname, name);

/** A worktree and the files of a stand-in, below a path without spaces: models read it from the prompt. */
class Stage extends Bench {
  readonly home = path.join(this.base, 'home');
  readonly files = path.join(this.base, 'files');

  /** Without the sandbox, in which a recorder could see neither itself nor the program. */
  static async open(): Promise<Stage> {
    // Not below the temporary folder, where Codex does not want its home.
    const stage = await new Stage(mkdtempSync('/var/tmp/tidemill-transcripts-'), 'off').lay();
    for (const folder of [stage.home, stage.files]) mkdirSync(folder);
    writeFileSync(path.join(stage.worktree, 'a.txt'), 'hello\n');
    return stage;
  }

  places(url: string, vendor: string): Places {
    const { base, home, worktree } = this;
    const { root, dataDir } = this.host;
    return {
      base,
      home,
      worktree,
      root,
      data: dataDir,
      url,
      vendor,
      slug: worktree.replaceAll(/[^a-zA-Z0-9]/g, '-'),
      // Claude Code's home is named after the worktree.
      'home-of-worktree': createHash('sha256').update(worktree).digest('hex').slice(0, 16),
    };
  }

  /** An executable of the repository, whose version nobody asks for. */
  program(...command: string[]): string {
    const file = path.join(this.host.root, 'program');
    const words = [process.execPath, ...command].map((word) => `'${word}'`).join(' ');
    writeFileSync(file, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
    return file;
  }

  async play(each: TranscriptCase, vendor: RecordedVendor, settings: object, stopping: Stopping) {
    const config = { pass: [], writable: [this.files], fallback: [], ...settings } as unknown as AgentConfig;
    const agentFor = createAgentFor({ default: config }, this.host);
    const seen: Seen[] = [];
    for (const run of each.runs) {
      const asked: ToolCall[] = [];
      const runId = `run_${seen.length + 1}`;
      const request = this.request({ runId, ...this.#asked(run, vendor, seen.at(-1)) });
      const guard = async (call: ToolCall) => {
        asked.push(call);
        return request.guard(call);
      };
      const trial = watch((sink) => agentFor(request.brief.mode).start({ ...request, guard }, sink));
      if (run.isStopped) {
        const over = new AbortController();
        await Promise.race([stopping(over.signal), trial.end]);
        over.abort();
        await trial.session.stop();
      }
      seen.push({ ...trial, asked, ended: await trial.end });
    }
    return seen;
  }

  #asked(run: CaseRun, { model, usual }: RecordedVendor, before: Seen | undefined) {
    return {
      brief: BRIEF,
      model: run.asksForModel ? model : usual,
      resume: run.isResumed ? (before?.sessions[0] ?? null) : null,
      ...run.request?.(),
    };
  }
}

export interface Played {
  seen: Seen[];
  /** Present when the vendor's own program played. */
  transcript?: Transcript;
  stage: Bench;
  close(): Promise<void>;
}

/** Lets a recorded program play a case. */
export async function playCase(each: TranscriptCase, vendor: RecordedVendor): Promise<Played> {
  const stage = await Stage.open();
  const url = 'http://127.0.0.1:9';
  const installed = { bin: '/nowhere/.bin', program: '/nowhere/.bin/program', modules: '/nowhere' };
  const part: Part = { transcript: fileOf(vendor.name, each.name), places: stage.places(url, installed.modules) };
  writeFileSync(path.join(stage.files, 'part.json'), JSON.stringify(part));
  const stopping: Stopping = (over) => appears(path.join(stage.files, STOP_FILE), over);
  const program = stage.program(sourceOf('player.ts'), stage.files);
  const settings = settingsOf(vendor, url, installed, stage.home, program);
  const seen = await stage.play(each, vendor, settings, stopping);
  return { seen, stage, close: () => stage.close() };
}

/** Lets the vendor's own program play a case against a scripted model, and records it. */
export async function recordCase(each: TranscriptCase, vendor: RecordedVendor, installed: Installed) {
  const stage = await Stage.open();
  const model = await vendor.vendor.serve(each.mind);
  const log = path.join(stage.files, 'log.jsonl');
  const stopping: Stopping = async (over) => {
    await appears(path.join(stage.worktree, BUSY_FILE), over);
    // The program announces the command on its own, before or after the shell has begun it.
    while (!isAnnounced(log) && !over.aborted) await delay(20);
    appendFileSync(log, `${JSON.stringify({ stop: true } satisfies Entry)}\n`);
  };
  try {
    const program = stage.program(sourceOf('recorder.ts'), log, installed.program);
    const settings = settingsOf(vendor, model.url, installed, stage.home, program);
    const seen = await stage.play(each, vendor, settings, stopping);
    const plain = createPlain(stage.places(model.url, installed.modules));
    const entries = readFileSync(log, 'utf8').trimEnd().split('\n');
    const [, version = ''] = vendor.vendor.npm;
    const transcript: Transcript = {
      head: { vendor: vendor.name, version, case: each.name },
      entries: entries.map((line) => plain(JSON.parse(line) as Entry)),
    };
    return { transcript, seen, stage, others: model.others, close: () => stage.close() };
  } finally {
    await model.stop();
  }
}

function settingsOf({ vendor, as }: RecordedVendor, url: string, found: Installed, home: string, program: string) {
  const { env, ...usual } = vendor.agent(url, found);
  return { ...usual, ...as(program), env: { ...env, HOME: home, TZ: 'UTC' } };
}

const isAnnounced = (log: string) =>
  readFileSync(log, 'utf8')
    .split('\n')
    .some((line) => line.startsWith('{"out"') && line.includes(BUSY_FILE));

async function appears(file: string, over: AbortSignal): Promise<void> {
  while (!existsSync(file) && !over.aborted) await delay(20);
}
