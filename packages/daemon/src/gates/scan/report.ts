import type { FindingSeverity } from '@tidemill/contract';
import { z } from 'zod';
import { finding, type KeyedFinding, type ReportedFindings } from './finding.ts';

const text = z.string().catch('');
const Region = z.looseObject({ startLine: z.number().optional() });
const Location = z.looseObject({
  physicalLocation: z
    .looseObject({
      artifactLocation: z.looseObject({ uri: z.string().optional() }).optional(),
      region: Region.optional(),
    })
    .optional(),
});
const Properties = z.looseObject({ 'security-severity': z.union([z.string(), z.number()]).optional() }).optional();
const SarifRule = z.looseObject({
  id: z.string(),
  properties: Properties,
  defaultConfiguration: z.looseObject({ level: z.string().optional() }).optional(),
});
const Component = z.looseObject({ rules: z.array(SarifRule).default([]) });
const SarifResult = z.looseObject({
  ruleId: z.string().optional(),
  /** CodeQL names the rule here, too. */
  rule: z.looseObject({ id: z.string().optional() }).optional(),
  level: z.string().optional(),
  message: z.looseObject({ text: z.string().optional() }).optional(),
  locations: z.array(Location).default([]),
  partialFingerprints: z.record(z.string(), z.string()).optional(),
  suppressions: z.array(z.looseObject({ kind: z.string().optional(), status: z.string().optional() })).optional(),
  properties: Properties,
});
const Sarif = z.looseObject({
  runs: z.array(
    z.looseObject({
      tool: z.looseObject({ driver: Component, extensions: z.array(Component).default([]) }),
      results: z.array(SarifResult).nullable(),
      invocations: z.array(z.looseObject({ executionSuccessful: z.boolean().optional() })).optional(),
    }),
  ),
});

/** A plain list, as many tools print it. */
const Plain = z.looseObject({
  severity: text,
  id: z.string().optional(),
  rule: z.string().optional(),
  ruleId: z.string().optional(),
  check_id: z.string().optional(),
  title: z.string().optional(),
  message: z.string().optional(),
  file: z.string().optional(),
  path: z.string().optional(),
  line: z.number().optional(),
});
const Plains = z.union([
  z.array(Plain),
  z.looseObject({ findings: z.array(Plain) }).transform(({ findings }) => findings),
  z.looseObject({ results: z.array(Plain) }).transform(({ results }) => results),
]);

/** A scanner's report: SARIF 2.1, or a JSON list of findings with `severity`, `id`, `message`, `file` and `line`. */
export function readReport(source: string, folder: string): ReportedFindings {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    return { unusable: 'the report is not JSON' };
  }
  if (typeof value === 'object' && value !== null && 'runs' in value) return ofSarif(value, folder);
  const plain = Plains.safeParse(value);
  if (!plain.success) return { unusable: 'the report is neither SARIF nor a list of findings' };
  return { findings: plain.data.map((each) => ofPlain(each, folder)) };
}

function ofSarif(value: unknown, folder: string): ReportedFindings {
  const sarif = Sarif.safeParse(value);
  if (!sarif.success)
    return { unusable: `the report is not valid SARIF: ${sarif.error.issues[0]?.path.join('.') ?? ''}` };
  const { runs } = sarif.data;
  if (runs.length === 0) return { unusable: 'the report contains no run of a tool' };
  const isBroken = runs.some(
    ({ results, invocations = [] }) =>
      results === null || invocations.some(({ executionSuccessful }) => executionSuccessful === false),
  );
  if (isBroken) return { unusable: 'the report says that the scan did not succeed' };
  return {
    findings: runs.flatMap(({ tool, results }) => {
      const rules = new Map(
        [...tool.extensions, tool.driver].flatMap((each) => each.rules.map((rule) => [rule.id, rule])),
      );
      return (results ?? []).flatMap((result) => ofResult(result, rules, folder));
    }),
  };
}

function ofResult(
  result: z.infer<typeof SarifResult>,
  rules: Map<string, z.infer<typeof SarifRule>>,
  folder: string,
): KeyedFinding[] {
  const { message, locations, partialFingerprints = {}, suppressions = [] } = result;
  const ruleId = result.ruleId ?? result.rule?.id ?? 'unnamed';
  const rule = rules.get(ruleId);
  // Many tools give the level with the rule only.
  const level = result.level ?? rule?.defaultConfiguration?.level ?? 'warning';
  // A comment in the source is the agent's own word, and accepts nothing.
  const isAccepted = suppressions.some(({ kind, status = 'accepted' }) => kind === 'external' && status === 'accepted');
  const score = Number(
    result.properties?.['security-severity'] ?? rule?.properties?.['security-severity'] ?? Number.NaN,
  );
  const severity = Number.isNaN(score) ? ofLevel(level) : ofScore(score);
  if (isAccepted || severity === null) return [];
  const place = locations[0]?.physicalLocation;
  const uri = place?.artifactLocation?.uri;
  const file = uri === undefined ? null : below(folder, uri);
  const title = message?.text ?? ruleId;
  const prints = Object.entries(partialFingerprints)
    .toSorted()
    .map(([name, print]) => `${name}=${print}`);
  const key = [ruleId, file ?? '', prints.length > 0 ? prints.join(' ') : title].join(' | ');
  return [finding({ severity, id: ruleId, title, file, line: place?.region?.startLine ?? null }, key)];
}

/** A checkout is in another folder each time. */
export function below(folder: string, file: string): string {
  const path = file.replace(/^file:\/\//, '').replace(/^\.\//, '');
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

function ofLevel(level: string): FindingSeverity | null {
  if (level === 'none') return null;
  return level === 'error' ? 'high' : level === 'note' ? 'low' : 'moderate';
}

/** As GitHub reads it. */
function ofScore(score: number): FindingSeverity | null {
  if (score >= 9) return 'critical';
  if (score >= 7) return 'high';
  if (score >= 4) return 'moderate';
  return score > 0 ? 'low' : null;
}

const WORDS = new Map<string, FindingSeverity>(
  Object.entries({
    info: 'low',
    note: 'low',
    low: 'low',
    minor: 'low',
    warning: 'moderate',
    medium: 'moderate',
    moderate: 'moderate',
    error: 'high',
    high: 'high',
    major: 'high',
    critical: 'critical',
    blocker: 'critical',
  }),
);

function ofPlain(each: z.infer<typeof Plain>, folder: string): KeyedFinding {
  const id = each.id ?? each.rule ?? each.ruleId ?? each.check_id ?? 'unnamed';
  const title = each.title ?? each.message ?? id;
  const named = each.file ?? each.path;
  const file = named === undefined ? null : below(folder, named);
  // An unknown word is taken seriously.
  const severity = WORDS.get(each.severity.toLowerCase()) ?? 'high';
  return finding({ severity, id, title, file, line: each.line ?? null }, [id, file ?? '', title].join(' | '));
}
