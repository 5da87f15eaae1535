import { test } from 'vitest';
import { onConformanceServer } from './mcp-conformance-suite.ts';

const conformance = onConformanceServer();

test('the suite of the protocol passes for the revision of 2025-11-25', { timeout: 240_000 }, () =>
  conformance.pass('2025-11-25'),
);
