import path from 'node:path';
import type { AcpPreset } from '@tidemill/contract';
import type { z } from 'zod';

/** A known program that speaks the protocol. */
export interface Preset {
  command: string[];
  /** Message for a missing program. */
  install: string;
  env: Record<string, string>;
  /** Its own credentials, taken from the daemon's environment if they are set. */
  pass: string[];
  /** Folders in the home folder for sessions, logins and caches. They must be writable in a sandbox too. */
  home: string[];
}

type PresetName = z.infer<typeof AcpPreset>;

/** Includes reads, so that the guards can deny reading secrets. */
const ASKED = ['read', 'list', 'glob', 'grep', 'edit', 'bash', 'webfetch', 'websearch', 'external_directory', 'task'];
const everyAsk = JSON.stringify(Object.fromEntries(ASKED.map((what) => [what, 'ask'])));

const PRESETS: Record<PresetName, Preset> = {
  gemini: {
    command: ['gemini', '--acp'],
    install: 'npm install -g @google/gemini-cli',
    env: {},
    pass: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_GENAI_USE_VERTEXAI'],
    home: ['.gemini'],
  },
  opencode: {
    command: ['opencode', 'acp'],
    install: 'npm install -g opencode-ai',
    // By default it edits and runs without asking.
    env: { OPENCODE_PERMISSION: everyAsk, OPENCODE_DISABLE_AUTOUPDATE: '1' },
    pass: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENROUTER_API_KEY', 'GEMINI_API_KEY'],
    home: ['.local/share/opencode', '.local/state/opencode', '.cache/opencode', '.config/opencode'],
  },
  'claude-agent-acp': {
    command: ['claude-agent-acp'],
    install: 'npm install -g @agentclientprotocol/claude-agent-acp',
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false' },
    pass: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN'],
    home: ['.claude', '.claude.json'],
  },
  'codex-acp': {
    command: ['codex-acp'],
    install: 'npm install -g @agentclientprotocol/codex-acp',
    env: {},
    pass: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    home: ['.codex'],
  },
};

/** The preset of that name, or the one a command starts: `[opencode, acp]` is known as well as `opencode`. */
export function presetFor(config: { preset?: PresetName | undefined; command?: string[] | undefined }): Preset | null {
  if (config.preset) return PRESETS[config.preset];
  const program = path.basename(config.command?.[0] ?? '');
  return Object.hasOwn(PRESETS, program) ? PRESETS[program as PresetName] : null;
}
