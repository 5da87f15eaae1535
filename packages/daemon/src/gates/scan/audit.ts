import type { FindingSeverity } from '@tidemill/contract';
import { z } from 'zod';
import { finding, type KeyedFinding, type ReportedFindings } from './finding.ts';

const Advisory = z.looseObject({
  source: z.union([z.number(), z.string()]).optional(),
  title: z.string().optional(),
  url: z.string().optional(),
  severity: z.string().optional(),
});
/** `npm audit --json` since npm 7. `via` names other packages where the cause is in one of them. */
const Npm = z.looseObject({
  vulnerabilities: z.record(
    z.string(),
    z.looseObject({ severity: z.string().optional(), via: z.array(z.union([z.string(), Advisory])).default([]) }),
  ),
});
/** `pnpm audit --json`, and npm 6. */
const Advisories = z.looseObject({
  advisories: z.record(
    z.string(),
    Advisory.extend({ module_name: z.string().optional(), github_advisory_id: z.string().optional() }),
  ),
});
const Failed = z.looseObject({
  error: z.union([z.string(), z.looseObject({ code: z.string().optional(), summary: z.string().optional() })]),
});

/** The vulnerabilities that an audit reports. An audit that could not ask its registry found nothing out. */
export function readAudit(text: string): ReportedFindings {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { unusable: 'the audit printed no JSON' };
  }
  const failed = Failed.safeParse(value);
  if (failed.success) {
    const { error } = failed.data;
    return {
      unusable: `the audit failed: ${typeof error === 'string' ? error : ((error.summary || error.code) ?? 'no reason given')}`,
    };
  }
  const npm = Npm.safeParse(value);
  if (npm.success) return { findings: Object.entries(npm.data.vulnerabilities).flatMap(ofPackage) };
  const older = Advisories.safeParse(value);
  if (older.success)
    return {
      findings: Object.entries(older.data.advisories).map(([id, each]) =>
        vulnerability(each.module_name ?? '', each, id),
      ),
    };
  return { unusable: 'the audit printed JSON without `vulnerabilities` or `advisories`' };
}

function ofPackage([name, { via }]: [string, z.infer<typeof Npm>['vulnerabilities'][string]]): KeyedFinding[] {
  return via.flatMap((cause) => (typeof cause === 'string' ? [] : [vulnerability(name, cause, '')]));
}

function vulnerability(
  name: string,
  advisory: z.infer<typeof Advisory> & { github_advisory_id?: string },
  fallback: string,
): KeyedFinding {
  const { source, title = 'vulnerability', url = '', severity = '', github_advisory_id } = advisory;
  const id = github_advisory_id ?? /GHSA-[\w-]+/.exec(url)?.[0] ?? String(source ?? fallback);
  const words = name === '' ? title : `${name}: ${title}`;
  return finding({ severity: severityOf(severity), id, title: words, file: null, line: null }, `${name} ${id}`);
}

const WORDS = new Map<string, FindingSeverity>([
  ['info', 'low'],
  ['low', 'low'],
  ['moderate', 'moderate'],
  ['medium', 'moderate'],
  ['high', 'high'],
  ['critical', 'critical'],
]);

/** An unknown word is taken seriously. */
const severityOf = (word: string): FindingSeverity => WORDS.get(word.toLowerCase()) ?? 'high';
