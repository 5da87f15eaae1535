import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const USUAL = 'claude-sonnet-4-5';
/** Beside the usual one. */
export const OTHER_MODEL = 'claude-haiku-4-5';

const model = (id: string, cost: { input: number; output: number }) => ({
  id,
  name: id,
  release_date: '2025-09-29',
  attachment: false,
  reasoning: false,
  temperature: true,
  tool_call: true,
  cost,
  limit: { context: 200_000, output: 64_000 },
});

/** Replaces its list of a hundred providers, which takes more than a second of CPU at every start. */
const MODELS = {
  anthropic: {
    id: 'anthropic',
    name: 'Anthropic',
    npm: '@ai-sdk/anthropic',
    env: ['ANTHROPIC_API_KEY'],
    models: {
      [USUAL]: model(USUAL, { input: 3, output: 15 }),
      [OTHER_MODEL]: model(OTHER_MODEL, { input: 1, output: 5 }),
    },
  },
};

/** opencode with a model server on loopback and nothing else. `bin` is where it is installed. */
export function openCodeEnv(url: string, bin: string): Record<string, string> {
  const models = join(bin, '..', '..', 'models.json');
  writeFileSync(models, JSON.stringify(MODELS));
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify({
      model: `anthropic/${USUAL}`,
      small_model: `anthropic/${USUAL}`,
      provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'dummy' } } },
    }),
    OPENCODE_MODELS_PATH: models,
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER: '1',
    npm_config_registry: url,
    npm_config_fetch_retries: '0',
  };
}
