import path from 'node:path';
import type { AcpPreset } from '@tidemill/contract';
import type { z } from 'zod';

/** What is known of a program that speaks the protocol. */
export interface Preset {
  command: string[];
  /** Told when the program is not there. */
  install: string;
  env: Record<string, string>;
  /** Credentials of its own, taken from the daemon's environment when they are there. */
  pass: string[];
  /** Below the home folder: where it keeps sessions, logins and caches, and has to write also in a sandbox. */
  home: string[];
}

type PresetName = z.infer<typeof AcpPreset>;

/** Reading too: secrets are not to be read, and guards can only say so when they are asked. */
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
    // Left to itself it edits and runs without asking anybody.
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
