import { expect, test } from 'vitest';
import { nearTo } from './concern.ts';

const FILES = new Map([
  ['src/hooks.js', 'export const hooks = [];'],
  ['src/sum.js', "import './hooks.js';\nexport const sum = 1;"],
  ['src/product.js', 'export const product = 1;'],
  ['test/sum.test.js', "import { sum } from '../src/sum.js';"],
  ['test/product.test.js', "import { product } from '../src/product.js';"],
]);
const near = (changed: string[], more: [string, string][] = []) => [
  ...nearTo(changed, new Map([...FILES, ...more])).keys(),
];

test('a changed source concerns what loads it, and not the others', () => {
  expect(near(['src/hooks.js'])).toEqual(['src/hooks.js', 'src/sum.js', 'test/sum.test.js']);
});

test('a changed test concerns the sources that it loads', () => {
  expect(near(['test/product.test.js'])).toEqual(['test/product.test.js', 'src/product.js']);
});

test.each<[string, [string, string]]>([
  ['names in quotes', ['test/a.test.js', "const file = new URL('../src/product.js', import.meta.url);"]],
  ['Python', ['test/test_a.py', 'import product as p']],
  ['shell', ['test/a.sh', '. ./src/product.sh']],
  ['C', ['test/a.c', '#include "product.h"']],
  ['Rust', ['tests/a.rs', 'use crate::product::*;']],
])('a new test concerns the sources that it loads (%s)', (_language, file) => {
  expect(near([file[0]], [file])).toEqual([file[0], 'src/product.js']);
});
