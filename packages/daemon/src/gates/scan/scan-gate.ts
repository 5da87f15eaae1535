import { lstat, readFile } from 'node:fs/promises';
import { join, matchesGlob } from 'node:path';
import {
  findingText,
  GATE_KINDS,
  type GateConfig,
  type GateStatus,
  MOST_FINDINGS,
  plainName,
  type ScanResult,
} from '@tidemill/contract';
import type { GateRequest } from '../../ports.ts';
import { readAudit } from './audit.ts';
import { readCoverage } from './coverage.ts';
import { counted, isAtLeast, type KeyedFinding, newOnes, resultOf } from './finding.ts';
import { publicNames } from './public-names.ts';
import { below, readReport } from './report.ts';
import { readReportFile } from './report-file.ts';
import { secretsIn } from './secrets.ts';

/** What a gate that looks for something found. */
export interface Scanned {
  status: GateStatus;
  says: string;
  scan?: ScanResult;
  /** What the agent and the log get. */
  lines: string[];
  /** What identifies all findings, for a comparison. */
  keys: string[];
}

/** The printed text of the tool; null when there was too much of it. */
export interface ScanOutput {
  exitCode: number | null;
  stdout: string | null;
}

const kindOf = ({ kind }: GateConfig) => (kind === 'audit' || kind === 'secrets' ? kind : 'scan');
const unverified = (says: string): Scanned => ({ status: 'unverified', says, lines: [], keys: [] });
const MOST_LINES = 50;
const LARGEST_FILE = 10_000_000;

/** Reads the result of a gate whose tool has ended. */
export async function judgeScan(
  gate: GateConfig,
  output: ScanOutput,
  request: GateRequest,
  shownAt: string | null,
): Promise<Scanned> {
  if (gate.kind === 'secrets') return secretsOf(gate, request);
  if (gate.kind === 'docs') return docsOf(gate, request);
  const read = await textOf(gate, output, request);
  if ('unusable' in read) return unverified(`showed nothing: ${read.unusable}`);
  // A tool in a sandbox may have seen the checkout under another path.
  const text = shownAt === null ? read.text : read.text.replaceAll(`${shownAt}/`, `${request.path}/`);
  if (gate.kind === 'coverage') return coverageOf(gate, text, output, request);
  const found = gate.kind === 'audit' ? readAudit(text) : readReport(text, request.path);
  if ('unusable' in found) return unverified(`showed nothing: ${found.unusable}`);
  if (found.findings.length === 0 && output.exitCode !== 0)
    return unverified(`ended with exit code ${output.exitCode} and reported nothing`);
  return byFindings(gate, found.findings, request);
}

async function textOf({ report }: GateConfig, { stdout }: ScanOutput, { path }: GateRequest) {
  if (report !== undefined) return readReportFile(path, report);
  return stdout === null
    ? { unusable: 'it printed too much; let it write a file, and name it in `report`' }
    : { text: stdout };
}

/** Only new findings count: what the target has, too, is not this change's fault. */
async function byFindings(
  gate: GateConfig,
  all: KeyedFinding[],
  { files, known: knownOf }: GateRequest,
): Promise<Scanned> {
  const findings = counted(all, gate.ignore);
  const keys = findings.map(({ key }) => key);
  const isWhole = files === null;
  const isCompared = gate.kind !== 'secrets' && findings.length > 0;
  const known = isWhole ? keys : isCompared ? ((await knownOf?.(gate.name)) ?? null) : [];
  if (known === null && knownOf) return unverified('cannot say what is new: the target could not be scanned');
  const fresh = newOnes(findings, known ?? []);
  const scan = resultOf(kindOf(gate), fresh, findings.length - fresh.length);
  const least = gate.failOn ?? (gate.kind === 'secrets' ? 'low' : 'high');
  const bad = fresh.filter(({ severity }) => isAtLeast(severity, least));
  const lines = scan.findings.map(findingText);
  return { status: bad.length > 0 ? 'fail' : 'pass', says: `reports ${scan.summary}`, scan, lines, keys };
}

async function secretsOf(gate: GateConfig, request: GateRequest): Promise<Scanned> {
  const { signal } = request;
  const found = await secretsIn(await changedTexts(request), { timeoutMs: gate.timeout, signal });
  if (found === null) return unverified(`did not end within ${gate.timeout / 1000} s`);
  return byFindings(gate, found, request);
}

async function docsOf(gate: GateConfig, request: GateRequest): Promise<Scanned> {
  const { threshold = GATE_KINDS.docs.threshold ?? 0, ignore = [] } = gate;
  const fresh = (await changedTexts(request)).flatMap(({ file, after, before }) => {
    if (ignore.some((glob) => file === glob || matchesGlob(file, glob))) return [];
    const old = new Set(before === undefined ? [] : publicNames(file, before)?.map(({ name }) => name));
    const added = publicNames(file, after)?.filter(({ name }) => !old.has(name)) ?? [];
    return added.map((each) => ({ ...each, file: plainName(file) }));
  });
  const bare = fresh.filter(({ isDocumented }) => !isDocumented);
  const percent = fresh.length === 0 ? null : Math.floor(((fresh.length - bare.length) / fresh.length) * 1000) / 10;
  const summary =
    percent === null
      ? 'no new public names'
      : `${fresh.length - bare.length} of ${fresh.length} new public names are documented (${percent} %, wanted ${threshold} %)`;
  const lines = bare
    .slice(0, MOST_LINES)
    .map(({ file, line, name }) => `${file}:${line}: ${name} has no documentation`);
  const scan = partly('docs', { summary, percent, threshold }, lines);
  return {
    status: percent !== null && percent < threshold ? 'fail' : 'pass',
    says: `finds: ${summary}`,
    scan,
    lines,
    keys: [],
  };
}

function coverageOf(gate: GateConfig, text: string, { exitCode }: ScanOutput, { path }: GateRequest): Scanned {
  const { threshold = GATE_KINDS.coverage.threshold ?? 0, ignore = [] } = gate;
  if (exitCode !== 0) return { status: 'fail', says: `failed with exit code ${exitCode}`, lines: [], keys: [] };
  const read = readCoverage(text);
  if ('unusable' in read) return unverified(`showed nothing: ${read.unusable}`);
  const { percent } = read;
  const lines = read.least
    .map(({ file, percent: share }) => ({ file: plainName(below(path, file)), share }))
    .filter(({ file }) => !ignore.some((glob) => file === glob || matchesGlob(file, glob)))
    .map(({ file, share }) => `${file}: ${share} %`);
  const summary = `tests reach ${percent} % of the lines, wanted ${threshold} %`;
  const scan = partly('coverage', { summary, percent, threshold }, lines);
  return { status: percent < threshold ? 'fail' : 'pass', says: `finds: ${summary}`, scan, lines, keys: [] };
}

const partly = (
  kind: 'docs' | 'coverage',
  { summary, percent, threshold }: Pick<ScanResult, 'summary' | 'percent' | 'threshold'>,
  lines: string[],
): ScanResult => ({
  kind,
  summary,
  counts: null,
  known: 0,
  percent,
  threshold,
  findings: [],
  missing: lines.slice(0, MOST_FINDINGS),
});

/** The changed files, with their text on the target. Links are not followed. A zero byte hides nothing, also in UTF-16. */
async function changedTexts({ path, files, before }: GateRequest) {
  const texts: { file: string; after: string; before: string | undefined }[] = [];
  const old = files === null || files.length === 0 ? null : await before?.(files);
  for (const file of files ?? []) {
    const found = await lstat(join(path, file)).catch(() => null);
    if (!found?.isFile() || found.size > LARGEST_FILE) continue;
    const bytes = await readFile(join(path, file));
    texts.push({ file, after: withoutZeros(bytes.toString('utf8')), before: withoutZeros(old?.get(file)) });
  }
  return texts;
}

const withoutZeros = <T extends string | undefined>(text: T) => text?.replaceAll('\0', '') as T;
