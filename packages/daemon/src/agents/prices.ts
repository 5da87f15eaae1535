import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '@tidemill/contract';
import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';

/**
 * USD per million tokens. `cached` is input the vendor had in its cache; what it newly stores there is `cacheWrite`.
 */
const Price = z.strictObject({
  input: z.number().nonnegative(),
  cached: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cacheWrite: z.number().nonnegative().optional(),
});
type Price = z.infer<typeof Price>;

/** `cached` and `cacheWrite` are parts of `input`, as the vendors count them. */
export interface TokenCounts {
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
}

export interface Prices {
  /** Whether the project's own file says what the model costs. */
  isOwn(model: string): boolean;
  /** Null for a model without a price. Then each request counts as a fixed amount. */
  costUsd(model: string, tokens: TokenCounts): number | null;
}

const PRICES_FILE = '.tidemill/prices.yaml';

/**
 * List prices of the vendors for standard requests, as known in November 2026. They move: a project's own file wins,
 * and a model that is in neither has no price. Claude Code reports its price, but only at the end of a turn. Until
 * then, and for an aborted turn, these are used.
 */
const BUILT_IN: Record<string, Price> = {
  'gpt-6-astra': { input: 10, cached: 1, cacheWrite: 12.5, output: 50 },
  'gpt-6.1-sol': { input: 2, cached: 0.1, cacheWrite: 2.5, output: 10 },
  'gpt-6-sol': { input: 2, cached: 0.2, cacheWrite: 2.5, output: 10 },
  'gpt-6-luna': { input: 0.1, cached: 0.01, cacheWrite: 0.125, output: 0.5 },
  'gpt-5.6-sol': { input: 4, cached: 0.4, cacheWrite: 5, output: 20 },
  'gpt-5.6-terra': { input: 2, cached: 0.2, cacheWrite: 2.5, output: 12 },
  'gpt-5.6-luna': { input: 0.2, cached: 0.02, cacheWrite: 0.25, output: 1.2 },
  'gpt-5.5': { input: 5, cached: 0.5, output: 30 },
  'gpt-5.4': { input: 2.5, cached: 0.25, output: 15 },
  'gpt-5.4-mini': { input: 0.75, cached: 0.075, output: 4.5 },
  'gpt-5.4-nano': { input: 0.2, cached: 0.02, output: 1.25 },
  'gpt-5.3-codex': { input: 1.75, cached: 0.175, output: 14 },
  'claude-opus-5-5': { input: 4, cached: 0.2, cacheWrite: 5, output: 20 },
  'claude-opus-5': { input: 5, cached: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-opus-4-8': { input: 5, cached: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-opus-4-7': { input: 5, cached: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-opus-4-6': { input: 5, cached: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-opus-4-5': { input: 5, cached: 0.5, cacheWrite: 6.25, output: 25 },
  'claude-sonnet-5-5': { input: 2, cached: 0.1, cacheWrite: 2.5, output: 10 },
  'claude-sonnet-5': { input: 2, cached: 0.2, cacheWrite: 2.5, output: 10 },
  'claude-sonnet-4-6': { input: 3, cached: 0.3, cacheWrite: 3.75, output: 15 },
  'claude-sonnet-4-5': { input: 3, cached: 0.3, cacheWrite: 3.75, output: 15 },
  'claude-haiku-5-5': { input: 0.1, cached: 0.01, cacheWrite: 0.125, output: 0.5 },
  'claude-haiku-4-5': { input: 1, cached: 0.1, cacheWrite: 1.25, output: 5 },
};

/**
 * The built-in prices, overridden by the repository's own file. Throws with all problems of that file, line by line.
 */
export function loadPrices(root: string): Prices {
  const own = new Map(Object.entries(ownPrices(root)));
  const table = new Map([...Object.entries(BUILT_IN), ...own]);
  return {
    isOwn: (model) => priceIn(own, model) !== undefined,
    costUsd(model, { input, cached, cacheWrite, output }) {
      const price = priceIn(table, model);
      if (!price) return null;
      const fresh = Math.max(0, input - cached - cacheWrite);
      const sum =
        fresh * price.input +
        cached * price.cached +
        cacheWrite * (price.cacheWrite ?? price.input) +
        output * price.output;
      return sum / 1_000_000;
    },
  };
}

/** A model's release may be named by its date. */
const priceIn = (table: Map<string, Price>, model: string) =>
  table.get(model) ?? table.get(model.replace(/-\d{4}-?\d{2}-?\d{2}$/, ''));

function ownPrices(root: string): Record<string, Price> {
  const text = read(path.join(root, PRICES_FILE));
  if (text === null) return {};
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  if (document.errors.length > 0) throw faulty(document.errors.map((error) => [lineAt(error.pos[0]), error.message]));
  const parsed = z.record(z.string(), Price).safeParse(document.toJS() ?? {});
  if (parsed.success) return parsed.data;
  throw faulty(parsed.error.issues.map((issue) => [lineAt(offsetOf(document, issue.path)), faultText(issue)]));
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new AppError('bad_config', `${PRICES_FILE} cannot be read: ${(error as Error).message}`);
  }
}

/** Where the value stands, or the nearest thing around it that is there. */
function offsetOf(document: ReturnType<typeof parseDocument>, keys: PropertyKey[]): number {
  for (let depth = keys.length; depth >= 0; depth--) {
    const node: unknown = depth === 0 ? document.contents : document.getIn(keys.slice(0, depth), true);
    const range = (node as { range?: [number, number, number] } | undefined)?.range;
    if (range) return range[0];
  }
  return 0;
}

function faultText(issue: z.core.$ZodIssue): string {
  const where = issue.path.join(' ');
  const form = 'a price is { input, cached, output } in USD per million tokens, and cacheWrite where it differs';
  if (issue.code === 'unrecognized_keys') return `${where}: unknown key ${issue.keys.join(', ')}; ${form}`;
  if (issue.code === 'invalid_type' && issue.path.length === 0) return 'the file must map models to prices';
  return `${where}: ${issue.message}; ${form}`;
}

function faulty(faults: [line: number, text: string][]): AppError {
  const lines = faults.map(([line, text]) => `${PRICES_FILE}:${line}: ${text}`);
  return new AppError('bad_config', lines.join('\n'), { hint: `Correct ${PRICES_FILE} and try again.` });
}
