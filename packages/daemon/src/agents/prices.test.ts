import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadPrices } from './prices.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'tidemill-prices-'));
  await mkdir(path.join(root, '.tidemill'));
});
afterEach(() => rm(root, { recursive: true, force: true }));
const own = (...lines: string[]) => writeFile(path.join(root, '.tidemill', 'prices.yaml'), lines.join('\n'));

const MILLION = { input: 1_000_000, cached: 0, cacheWrite: 0, output: 0 };

it('the price of a request counts cached input, cache writes and other input separately', () => {
  const prices = loadPrices(root);
  expect(prices.costUsd('gpt-5.5', { input: 300, cached: 60, cacheWrite: 0, output: 30 })).toBeCloseTo(0.00213, 9);
  expect(prices.costUsd('gpt-6-sol', { input: 1000, cached: 400, cacheWrite: 100, output: 10 })).toBeCloseTo(
    0.00143,
    9,
  );
  expect(prices.costUsd('gpt-5.5-2026-04-24', MILLION)).toBe(5);
  expect(prices.costUsd('gpt-of-tomorrow', MILLION)).toBeNull();
});

it('the price of a request follows the project’s own price file', async () => {
  await own('gpt-5.5: { input: 7, cached: 1, output: 9 }', 'local-model: { input: 0, cached: 0, output: 0 }');
  const prices = loadPrices(root);
  expect(prices.costUsd('gpt-5.5', MILLION)).toBe(7);
  expect(prices.costUsd('local-model', MILLION)).toBe(0);
  expect(prices.costUsd('gpt-6-sol', MILLION)).toBe(2);
});

it.each<[string, string[], RegExp]>([
  [
    'a price that is no number',
    ['a: { input: 1, cached: 0, output: 2 }', 'b:', '  input: cheap', '  cached: 0', '  output: 1'],
    /prices\.yaml:3: b input: /,
  ],
  [
    'a price that is missing',
    ['a: { input: 1, cached: 0, output: 2 }', 'b: { input: 1, output: 2 }'],
    /prices\.yaml:2: b cached: /,
  ],
  [
    'an unknown key',
    ['a:', '  input: 1', '  cached: 0', '  output: 1', '  discount: 5'],
    /prices\.yaml:\d: a: unknown key discount; a price is/,
  ],
  ['a negative price', ['a: { input: -1, cached: 0, output: 2 }'], /prices\.yaml:1: a input: /],
  ['no mapping', ['- a', '- b'], /prices\.yaml:1: the file must map models to prices/],
  ['broken YAML', ['a: { input: 1', 'b: 2'], /prices\.yaml:\d: /],
])('the error of a price file names the line of %s', async (_what, lines, says) => {
  await own(...lines);
  expect(() => loadPrices(root)).toThrow(says);
});
