import { finding, type KeyedFinding } from './finding.ts';

/** Keys whose form alone says what they are. Words such as `password = …` are not among them: tests are full of these. */
const KEYS: [id: string, pattern: RegExp][] = [
  ['private-key', /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/],
  ['aws-access-key', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['github-token', /\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})\b/],
  ['gitlab-token', /\bglpat-[A-Za-z0-9_-]{20,64}\b/],
  ['anthropic-key', /\bsk-ant-[A-Za-z0-9_-]{20,200}\b/],
  ['openai-key', /\bsk-(?:proj-|svcacct-)?[A-Za-z0-9]{32,200}\b/],
  ['slack-token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,200}\b/],
  ['stripe-key', /\b[rs]k_live_[A-Za-z0-9]{16,200}\b/],
  ['google-key', /\bAIza[0-9A-Za-z_-]{35}\b/],
  ['npm-token', /\bnpm_[A-Za-z0-9]{36}\b/],
  ['sendgrid-key', /\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}\b/],
];

/** Keys in the lines that the change adds. The value itself is never shown. */
export function secretsIn(file: string, after: string, before: string | undefined): KeyedFinding[] {
  const old = new Set(before?.split('\n') ?? []);
  return after.split('\n').flatMap((line, index) => {
    if (old.has(line)) return [];
    return KEYS.flatMap(([id, pattern]) =>
      pattern.test(line)
        ? [
            finding(
              { severity: 'critical', id, title: `looks like a secret: ${id}`, file, line: index + 1 },
              `${id} ${file}`,
            ),
          ]
        : [],
    );
  });
}
