import type { RecordedTask } from '@tidemill/contract';
import { isOfTests } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';

/** The work with the tests of the change that landed: what the agent itself tested does not decide. */
export async function landedTests(
  { workspace }: EngineDeps,
  { commit: landed, files }: RecordedTask,
  commit: string,
): Promise<{ commit: string }> {
  const tests = files.filter(isOfTests);
  return tests.length === 0 ? { commit } : workspace.withFilesOf(commit, landed, tests);
}
