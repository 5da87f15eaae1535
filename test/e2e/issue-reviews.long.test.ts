import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GithubBed } from '../support/github/github-bed.ts';
import { until } from '../support/until.ts';

/** Builds what the title says; rejects a file without a second line, and everything about the stubborn one. */
const AGENT = `#!/bin/sh
brief=$(cat)
name=$(printf '%s' "$brief" | sed -n 's/.*"title":"Write \\([a-z]*\\)[^"]*".*/\\1/p' | head -1)
say() { printf '{"tidemill":"result","outcome":"%s","summary":"%s"%s}\\n' "$1" "$2" "$3"; }
verdict() { printf ',"review":{"criteria":[{"id":"C1","met":%s,"evidence":"%s.txt:1"}],"comments":["%s"]}' "$1" "$name" "$2"; }
if printf '%s' "$brief" | grep -q '"mode":"review"'; then
  if [ "$name" != stubborn ] && grep -q second "$name.txt"; then say approved "fine" "$(verdict true fine)"
  else say changes_requested "too short" "$(verdict false 'Write a second line, @everyone.')"; fi
elif printf '%s' "$brief" | grep -q '"mode":"request_changes"'; then
  echo "second \${#brief}" >> "$name.txt"
  say pr_ready "I think it is long enough"
else
  echo "$name" > "$name.txt"
  say pr_ready "wrote the file"
fi
`;
const BUG = `name: bug
start: implement
stages:
  implement: { actor: agent, mode: implement, on: { pr_ready: verify, no_changes: blocked } }
  verify: { actor: system, does: verify, on: { approved: review, failed: implement } }
  review: { actor: agent, mode: review, on: { approved: merge, changes_requested: implement } }
  merge: { actor: system, does: merge, on: { approved: done, failed: implement, conflicts_detected: implement } }
`;
const CONFIG = `tracker: { type: github, labels: [agent], poll: 1s }
pullRequest: { poll: 300ms, noChecks: continue, noChecksAfter: 200ms }
critical: [shared.txt]
`;

describe('the issue of a task', { timeout: 60_000 }, () => {
  let bed: GithubBed;
  const ada = () => bed.github.as('ada');
  const labels = async (number: number) =>
    (await ada().ask<{ labels: { name: string }[] }>('GET', `/issues/${number}`)).labels.map(({ name }) => name);
  const comments = async (number: number) => (await ada().comments(number)).map(({ body }) => body);
  /** Every text that our one comment ever had. */
  const texts = () =>
    bed.github.log
      .filter(({ path, method, status }) => /comments/.test(path) && method !== 'GET' && status < 300)
      .map(({ body }) => String((JSON.parse(body || '{}') as { body?: string }).body));

  beforeAll(async () => {
    const files = { 'agent.sh': AGENT, '.tidemill/pipelines/bug.yaml': BUG };
    bed = await GithubBed.open({ config: CONFIG, files });
    await bed.up();
  });
  afterAll(() => bed.close());

  test('has a rejection in its one comment, with its cycle; then the change is reviewed again and lands', async () => {
    const number = await ada().openIssue('Write apples', '- [ ] two lines', { labels: ['agent', 'bug'] });
    await until(async () => (await ada().ask<{ state: string }>('GET', `/issues/${number}`)).state === 'closed');
    const rejected = texts().find((text) => text.includes('Review Feedback - Cycle 1/3'))!;
    expect(rejected).toContain('**Status:** REJECTED');
    expect(rejected).toContain('**Issues Found:**\n- Not met: two lines (apples.txt:1)');
    expect(rejected).toContain('**Requested Changes:**\n1. Write a second line, @\u2060everyone.');
    expect(await comments(number)).toHaveLength(1);
    expect((await comments(number))[0]).toContain('- [x] two lines (apples.txt:1)');
    expect(await labels(number)).toEqual(expect.not.arrayContaining(['tidemill:in-review', 'review-escalation']));
  });

  test('gets a label and a comment with both views after the third rejection', async () => {
    const number = await ada().openIssue('Write stubborn', '- [ ] two lines', { labels: ['agent', 'bug'] });
    await until(async () => (await labels(number)).includes('review-escalation'));
    const [comment, ...others] = await comments(number);
    expect(others).toEqual([]);
    expect(comment).toContain('Review Feedback - Cycle 3/3');
    expect(comment).toMatch(/> The reviewer: [\s\S]*second line[\s\S]*> The builder: I think it is long enough/);
    expect(await labels(number)).toEqual(expect.arrayContaining(['tidemill:needs-you', 'review-escalation']));
  });

  test('gets a label and the files for a conflict that only a person may resolve', async () => {
    // Its pull request waits for a check, until a colleague has pushed the same file.
    bed.github.pulls.protections.set('main', { contexts: ['ci'] });
    const number = await ada().openIssue('Write shared', '- [ ] x', { labels: ['agent'] });
    await until(async () => (await comments(number))[0]?.includes('Pull request: ') ?? false);
    bed.github.pulls.protections.delete('main');
    await bed.push('shared.txt', 'from a colleague\n');
    await until(async () => (await labels(number)).includes('needs-manual-resolution'));
    const [comment] = await comments(number);
    expect(comment).toContain('A person must resolve these files:\n\n- shared.txt');
  });
});
