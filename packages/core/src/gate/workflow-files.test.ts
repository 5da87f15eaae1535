import { expect, test } from 'vitest';
import { agreedContents, agreementTo, isAboutWorkflows, workflowFiles } from './workflow-files.ts';

/** Tells texts apart by their end. */
const hash = (text: string) => [...text].reverse().join('');
const fact = (oid: string, mode = '100644') => ({ oid, mode, text: null });
const changed = (path: string, after = fact('b')) => ({ path, before: fact('a'), after });

test.each([
  '.github/workflows/ci.yml',
  '.github/workflows/README.md',
  '.GitHub/Workflows/ci.yml',
  '.github/actions/setup/action.yml',
  '.github/actions/setup/index.js',
  '.github/scripts/release.sh',
  '.github/dependabot.yml',
  // As a link or a submodule.
  '.github',
  '.github/workflows',
  'action.yml',
  'tools/deploy/Action.yaml',
])('GitHub runs %s', (path) => {
  expect(workflowFiles([changed(path)], hash)).toMatchObject([{ file: path, change: 'changed' }]);
});

test.each([
  'src/github/workflows/ci.yml',
  '.github.md',
  '.github/CONTRIBUTING.md',
  '.github/CODEOWNERS',
  '.github/ISSUE_TEMPLATE/bug.yml',
  '.github/PULL_REQUEST_TEMPLATE.md',
  'src/action.ts',
])('GitHub does not run %s', (path) => {
  expect(workflowFiles([changed(path)], hash)).toEqual([]);
});

test('an agreement to a workflow file is for exactly its content, mode and path', () => {
  const path = '.github/workflows/ci.yml';
  const agreed = workflowFiles([changed(path), changed('.github/actions/a/index.js')], hash);
  const about = agreementTo(agreed);
  expect(isAboutWorkflows(about)).toBe(true);
  const contents = agreedContents({ approvedPulls: ['closed:7', about] });
  const isAgreed = (change: Parameters<typeof workflowFiles>[0][number]) =>
    workflowFiles([change], hash).every(({ content }) => contents.includes(content));
  expect(isAgreed(changed(path))).toBe(true);
  expect(isAgreed({ ...changed(path), before: null })).toBe(true);
  expect(isAgreed(changed(path, fact('c')))).toBe(false);
  expect(isAgreed(changed(path, fact('b', '120000')))).toBe(false);
  expect(isAgreed(changed('.github/workflows/other.yml'))).toBe(false);
  expect(isAgreed({ ...changed(path), after: null })).toBe(false);
});
