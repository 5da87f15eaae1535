import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GateConfig } from '@tidemill/contract';
import type { ProtectingGate } from './detect/tool.ts';

/** Whether a command that asks a registry for vulnerabilities gets an answer here, as a gate would. */
export type AuditTrial = (run: string) => Promise<boolean>;

const AUDITS: [lock: string, run: string][] = [
  ['package-lock.json', 'npm audit --json'],
  ['npm-shrinkwrap.json', 'npm audit --json'],
  ['pnpm-lock.yaml', 'pnpm audit --json'],
];

/** The gates that `init` adds to the repository's own commands, and what it says about them. */
export async function protectingGates(
  root: string,
  taken: string[],
  answers: AuditTrial,
): Promise<{ gates: ProtectingGate[]; notes: string[] }> {
  const audit = AUDITS.find(([lock]) => existsSync(join(root, lock)))?.[1];
  const isAnswered = audit !== undefined && (await answers(audit));
  const gates: ProtectingGate[] = [
    { name: 'secrets', kind: 'secrets' },
    { name: 'docs', kind: 'docs' },
    ...(isAnswered ? [{ name: 'audit', kind: 'audit' as const, run: audit }] : []),
  ];
  const named = gates.map((gate) => (taken.includes(gate.name) ? { ...gate, name: `${gate.name}-scan` } : gate));
  const notes =
    audit !== undefined && !isAnswered
      ? [
          `\`${audit}\` did not answer, so no gate looks for vulnerable dependencies: { name: audit, kind: audit, run: ${audit} } adds it later`,
        ]
      : [];
  return { gates: named, notes };
}

const SCANNERS = /\b(gitleaks|trufflehog|secretlint|detect-secrets|ggshield|semgrep|snyk|trivy|git-secrets)\b/;

/** Null when a gate looks for keys or vulnerabilities. */
export function securityWarning(gates: Pick<GateConfig, 'kind' | 'run'>[], file: string): string | null {
  const isSecurity = ({ kind, run }: Pick<GateConfig, 'kind' | 'run'>) =>
    kind === 'secrets' || kind === 'audit' || kind === 'scan' || SCANNERS.test(run);
  if (gates.some(isSecurity)) return null;
  return `${file}: no security gate is configured, so a key in a change can land; add { name: secrets, kind: secrets } to \`gates\``;
}
