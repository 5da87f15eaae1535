import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GateConfig } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { GateRequest } from '../../ports.ts';
import { createGates } from '../gates.ts';
import { publicNames } from './public-names.ts';
import { readReport } from './report.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-scan-'));
  path = join(folder, 'checkout');
  mkdirSync(join(path, 'src'), { recursive: true });
  mkdirSync(join(folder, 'root'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(path, name), text);

/** Runs the gate alone, after the built-in one. */
async function run(gate: object, more: Partial<GateRequest> = {}) {
  const config = [GateConfig.parse({ name: 'it', ...gate })];
  const host = { root: join(folder, 'root'), dataDir: join(folder, 'data'), homeId: folder, sandbox: 'off' as const };
  const gates = createGates({ config, host, logDir: join(folder, 'data/logs') });
  const files = ['src/a.ts'];
  const request = { path, tree: 't', files, only: ['it'], signal: new AbortController().signal, ...more };
  const [report] = await gates.run(request);
  return { ...report!, log: readFileSync(join(folder, 'data/logs', `${report!.receipt.logHash}.log`), 'utf8') };
}

const vulnerability = (name: string, severity: string, id: string) => ({
  name,
  severity,
  via: [{ source: 1, name, title: `Bad ${name}`, url: `https://github.com/advisories/${id}`, severity }, 'other'],
});
const audit = (...found: ReturnType<typeof vulnerability>[]) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(found.map((each) => [each.name, each])),
  });
/** A tool that prints this and ends with a code, as scanners do that found something. */
function prints(text: string, code = 0): string {
  write('printed.txt', text);
  return `cat printed.txt; exit ${code}`;
}

describe('an audit', () => {
  test('counts vulnerabilities by severity, and new high ones block', async () => {
    const all = [
      vulnerability('a', 'low', 'GHSA-aaaa'),
      vulnerability('b', 'moderate', 'GHSA-bbbb'),
      vulnerability('c', 'high', 'GHSA-cccc'),
      vulnerability('d', 'critical', 'GHSA-dddd'),
    ];
    const { receipt, excerpt, log } = await run(
      { kind: 'audit', run: prints(audit(...all), 1) },
      { known: async () => [] },
    );
    expect(receipt).toMatchObject({
      status: 'fail',
      exitCode: 1,
      scan: { counts: { low: 1, moderate: 1, high: 1, critical: 1 }, known: 0 },
    });
    expect(receipt.scan!.findings[0]).toMatchObject({ severity: 'critical', id: 'GHSA-dddd', title: 'd: Bad d' });
    expect(excerpt).toContain('high: c: Bad c (GHSA-cccc)');
    expect(log).toContain('new findings: 1 critical, 1 high, 1 moderate, 1 low');
  });

  test('passes with what the target has, too, and with what is ignored; a second one of the same is new', async () => {
    const found = audit(vulnerability('c', 'high', 'GHSA-cccc'), vulnerability('d', 'high', 'GHSA-dddd'));
    const target = await run({ kind: 'audit', run: prints(found, 1) }, { files: null });
    expect(target.receipt).toMatchObject({ status: 'pass', scan: { counts: { high: 0 }, known: 2 } });
    expect(target.findingKeys).toEqual(['c GHSA-cccc', 'd GHSA-dddd']);
    const same = await run({ kind: 'audit', run: prints(found, 1) }, { known: async () => target.findingKeys! });
    expect(same.receipt).toMatchObject({
      status: 'pass',
      scan: { known: 2, summary: 'no new findings; 2 that the target has, too' },
    });
    const known = async () => ['c GHSA-cccc'];
    expect((await run({ kind: 'audit', run: prints(found, 1) }, { known })).receipt.status).toBe('fail');
    const ignored = await run({ kind: 'audit', run: prints(found, 1), ignore: ['GHSA-dddd'] }, { known });
    expect(ignored.receipt).toMatchObject({ status: 'pass', scan: { known: 1 } });
    expect((await run({ kind: 'audit', run: prints(found, 1), failOn: 'critical' }, { known })).receipt.status).toBe(
      'pass',
    );
  });

  test.each([
    ['a missing program', () => 'no-such-audit --json', /not installed/],
    ['no JSON', () => prints('npm ERR! oops', 1), /no JSON/],
    [
      'a registry that cannot be reached',
      () => prints('{"error":{"code":"ENETUNREACH","summary":"no network"}}', 1),
      /no network/,
    ],
    ['other JSON', () => prints('{"fine":true}'), /without `vulnerabilities`/],
    ['an exit code without findings', () => prints(audit(), 2), /exit code 2 and reported nothing/],
    ['more than can be read', () => 'head -c 31000000 /dev/zero', /printed too much/],
  ])('with %s is unverified, never a pass', async (_what, command, expected) => {
    const { receipt, excerpt } = await run({ kind: 'audit', run: command() }, { known: async () => [] });
    expect(receipt.status).toBe('unverified');
    expect(excerpt).toMatch(expected);
  });

  test('is unverified when the target could not be scanned', async () => {
    const found = prints(audit(vulnerability('c', 'high', 'GHSA-cccc')), 1);
    const { receipt, excerpt } = await run({ kind: 'audit', run: found }, { known: async () => null });
    expect([receipt.status, excerpt]).toEqual([
      'unverified',
      expect.stringContaining('the target could not be scanned'),
    ]);
  });

  describe('by npm itself', () => {
    let server: Server;
    afterEach(() => server.close());
    const left = {
      name: 'left',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name: 'left', version: '1.0.0' } },
    };
    const registry = (advisories: object) =>
      new Promise<string>((resolve) => {
        server = createServer((request, response) => {
          const body = request.url?.includes('/advisories/bulk') ? advisories : left;
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        });
        server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
      });
    const lock = () => {
      write('package.json', '{"name":"x","version":"1.0.0","dependencies":{"left":"1.0.0"}}');
      const locked = { version: '1.0.0', resolved: 'http://127.0.0.1/left.tgz', integrity: 'sha512-AAAA' };
      const packages = {
        '': { name: 'x', version: '1.0.0', dependencies: { left: '1.0.0' } },
        'node_modules/left': locked,
      };
      write('package-lock.json', JSON.stringify({ name: 'x', version: '1.0.0', lockfileVersion: 3, packages }));
    };
    const npm = (url: string) => `npm audit --json --registry ${url} --cache ${folder}/npm --fetch-retries 0`;

    test('finds what the registry knows, and is unverified without it', { timeout: 60_000 }, async () => {
      lock();
      const advisory = {
        id: 7,
        url: 'https://github.com/advisories/GHSA-left-left-left',
        title: 'Left is wrong',
        severity: 'critical',
        vulnerable_versions: '<2.0.0',
      };
      const url = await registry({ left: [advisory] });
      const { receipt, log } = await run({ kind: 'audit', run: npm(url) }, { known: async () => [] });
      expect(receipt, log).toMatchObject({ status: 'fail', scan: { counts: { critical: 1 } } });
      expect(receipt.scan!.findings[0]).toMatchObject({ id: 'GHSA-left-left-left', title: 'left: Left is wrong' });
      server.close();
      const { receipt: without } = await run({ kind: 'audit', run: npm(url) }, { known: async () => [] });
      expect(without.status).toBe('unverified');
    });
  });
});

describe('a scanner’s report', () => {
  const sarif = (results: object[], rules: object[] = []) =>
    JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'x', rules } }, results }] });
  const result = (ruleId: string, level: string, uri: string, startLine: number, more: object = {}) => ({
    ruleId,
    level,
    message: { text: `About ${ruleId}` },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine } } }],
    ...more,
  });

  test('in SARIF has severities by score or level, without what is accepted outside the source', () => {
    const rules = [{ id: 'sql', properties: { 'security-severity': '9.8' } }];
    const read = readReport(
      sarif(
        [
          result('sql', 'warning', 'src/a.ts', 3),
          result('style', 'error', 'file:///w/src/b.ts', 4),
          result('hint', 'note', './c.ts', 5),
          result('off', 'error', 'd.ts', 1, { suppressions: [{ kind: 'external' }] }),
          // An agent can write such a comment.
          result('hushed', 'error', 'e.ts', 1, { suppressions: [{ kind: 'inSource' }] }),
          result('quiet', 'none', 'd.ts', 1),
        ],
        rules,
      ),
      '/w',
    );
    expect(
      'findings' in read && read.findings.map(({ severity, id, file, line }) => [severity, id, file, line]),
    ).toEqual([
      ['critical', 'sql', 'src/a.ts', 3],
      ['high', 'style', 'src/b.ts', 4],
      ['low', 'hint', 'c.ts', 5],
      ['high', 'hushed', 'e.ts', 1],
    ]);
  });

  test('in SARIF may have the level with the rule only, also in an extension', () => {
    const { level: _level, ...bare } = result('driver', '', 'a.ts', 1);
    const { ruleId: _ruleId, ...named } = bare;
    const rule = (id: string) => ({ id, defaultConfiguration: { level: 'error' } });
    const tool = { driver: { name: 'x', rules: [rule('driver')] }, extensions: [{ rules: [rule('more')] }] };
    const results = [bare, { ...named, rule: { id: 'more' } }, { ...bare, ruleId: 'unknown' }];
    const read = readReport(JSON.stringify({ runs: [{ tool, results }] }), '/w');
    expect('findings' in read && read.findings.map(({ severity, id }) => [severity, id])).toEqual([
      ['high', 'driver'],
      ['high', 'more'],
      ['moderate', 'unknown'],
    ]);
  });

  test('counts only what is new: another line is not, another file is', async () => {
    const before = await run(
      { kind: 'scan', run: prints(sarif([result('sql', 'error', 'src/a.ts', 3)]), 1) },
      { files: null },
    );
    const known = async () => before.findingKeys!;
    const moved = sarif([result('sql', 'error', 'src/a.ts', 30)]);
    expect((await run({ kind: 'scan', run: prints(moved, 1) }, { known })).receipt.status).toBe('pass');
    const twice = sarif([result('sql', 'error', 'src/a.ts', 30), result('sql', 'error', 'src/a.ts', 90)]);
    expect((await run({ kind: 'scan', run: prints(twice, 1) }, { known })).receipt.status).toBe('fail');
    const ignored = { kind: 'scan', run: prints(twice, 1), ignore: ['src/**'] };
    expect((await run(ignored, { known })).receipt.status).toBe('pass');
  });

  test('may be a plain list in a file, which is made again', async () => {
    const list = [{ severity: 'CRITICAL', check_id: 'x.y', path: 'src/a.ts', line: 2, message: 'Bad \u001b[31mnews' }];
    write('made.json', '[]');
    const gate = {
      kind: 'scan',
      run: `printf '%s' '${JSON.stringify(list)}' > report.json; exit 1`,
      report: 'report.json',
    };
    write('report.json', '[]');
    const { receipt } = await run(gate, { known: async () => [] });
    expect(receipt.scan!.findings).toEqual([
      { severity: 'critical', id: 'x.y', title: 'Bad news', file: 'src/a.ts', line: 2 },
    ]);
    // One that the tool did not write, because an agent committed it, shows nothing.
    write('report.json', '[]');
    expect((await run({ ...gate, run: 'true' })).receipt.status).toBe('unverified');
  });

  test('is never read or removed outside the checkout', async () => {
    writeFileSync(join(folder, 'report.json'), '[]');
    symlinkSync(folder, join(path, 'out'));
    const { receipt } = await run({ kind: 'scan', run: 'true', report: 'out/report.json' });
    expect(receipt.status).toBe('unverified');
    symlinkSync(join(folder, 'report.json'), join(path, 'link.json'));
    expect(
      (await run({ kind: 'scan', run: 'ln -s ../report.json link.json', report: 'link.json' })).receipt.status,
    ).toBe('unverified');
    expect(readFileSync(join(folder, 'report.json'), 'utf8')).toBe('[]');
  });

  test.each(['', '{"runs":[]}', '{"runs":[{"tool":{"driver":{}},"results":null}]}', '7', '{"a":1}'])(
    'with the text %s is unusable',
    (text) => {
      expect(readReport(text, '/w')).toHaveProperty('unusable');
    },
  );
});

describe('secrets', () => {
  // In parts, so that this file has none.
  const key = ['AKIA', 'ABCDEFGHIJKLMNOP'].join('');
  test('in added lines block, without their value; old ones and ignored files do not', async () => {
    write('src/a.ts', `const old = '${key}';\nconst fine = 1;\n`);
    const before = async () => new Map([['src/a.ts', `const old = '${key}';\n`]]);
    expect((await run({ kind: 'secrets' }, { before })).receipt).toMatchObject({
      status: 'pass',
      command: '',
      exitCode: null,
    });
    const { receipt, excerpt, log } = await run({ kind: 'secrets' });
    expect(receipt).toMatchObject({ status: 'fail', scan: { counts: { critical: 1 } } });
    expect(receipt.scan!.findings[0]).toMatchObject({ id: 'AWSAccessKeyID', file: 'src/a.ts', line: 1 });
    expect(excerpt + log + JSON.stringify(receipt)).not.toContain(key);
    expect((await run({ kind: 'secrets', ignore: ['src/*.ts'] })).receipt.status).toBe('pass');
    expect((await run({ kind: 'secrets' }, { files: null })).receipt.status).toBe('pass');
  });

  test.each([
    ['a zero byte', (hidden: string) => `\0${hidden}`],
    ['UTF-16', (hidden: string) => [...hidden].join('\0')],
    ['a long line', (hidden: string) => `${'x '.repeat(50_000)}${hidden}`],
    ['a long file', (hidden: string) => `${'x\n'.repeat(800_000)}${hidden}`],
    ['a comment that switches the search off', (hidden: string) => `// secretlint-disable\n${hidden}`],
  ])('are found behind %s', async (_name, text) => {
    write('src/a.ts', text(key));
    expect((await run({ kind: 'secrets' })).receipt.status).toBe('fail');
  });

  test.each([
    ['a Slack token', ['xo', 'xb-123456789012-123456789012-aB3dE5gH7jK9mN1pQ3rS5tU7'], 'SLACK_TOKEN'],
    ['a key for Stripe', ['sk', '_live_aB3dE5gH7jK9mN1pQ3rS5tU7'], 'STRIPE_SECRET_KEY_LIVE'],
    ['a password for a database', ['postgres', '://ada:s3cretLongWord@db.acme.io:5432/app'], 'PostgreSQLConnection'],
    ['a login in a URL', ['https', '://ada:s3cretLongWord@acme.io/'], 'BasicAuth'],
  ])('of the recommended rules are found: %s', async (_name, parts, id) => {
    write('src/a.ts', `export const it = '${parts.join('')}';\n`);
    expect((await run({ kind: 'secrets' })).receipt.scan!.findings.map((found) => found.id)).toEqual([id]);
  });

  test('of which only a part is new count, and configuration of the repository does not hide them', async () => {
    const begin = '-----BEGIN RSA PRIVATE KEY-----';
    const body = 'MIIEpAIBAAKCAQEA1234567890abcdefghijklmnopqrstuvwxyz1234567890AB\n'.repeat(12);
    write('.secretlintrc.json', '{"rules":[]}');
    write('.secretlintignore', '**');
    write('src/a.ts', `${begin}\n${body}-----END RSA PRIVATE KEY-----\n`);
    const before = async () => new Map([['src/a.ts', `${begin}\n`]]);
    expect((await run({ kind: 'secrets' }, { before })).receipt.scan!.findings).toMatchObject([
      { id: 'PrivateKey', line: 1 },
    ]);
  });

  test('that could not be looked for in time are unverified', async () => {
    write('src/a.ts', 'x\n'.repeat(100_000));
    const { receipt, excerpt } = await run({ kind: 'secrets', timeout: '1ms' });
    expect([receipt.status, excerpt]).toEqual(['unverified', expect.stringContaining('did not end within')]);
  });
});

describe('documentation', () => {
  test('below the wanted share of new public names warns', async () => {
    write(
      'src/a.ts',
      '/** Says it. */\nexport function one() {}\nexport const two = 2;\nexport class Old {}\nfunction own() {}\nexport type Three = 3;\n',
    );
    const before = async () => new Map([['src/a.ts', 'export class Old {}\n']]);
    const { receipt, excerpt } = await run({ kind: 'docs' }, { before });
    expect(receipt).toMatchObject({ status: 'fail', severity: 'warn', scan: { percent: 33.3, threshold: 50 } });
    expect(receipt.scan!.summary).toBe('1 of 3 new public names are documented (33.3 %, wanted 50 %)');
    expect(excerpt).toContain('src/a.ts:3: two has no documentation');
    expect((await run({ kind: 'docs', threshold: 30 }, { before })).receipt.status).toBe('pass');
    expect((await run({ kind: 'docs', ignore: ['src/**'] }, { before })).receipt).toMatchObject({
      status: 'pass',
      scan: { percent: null },
    });
  });

  test.each<[string, string, [string, boolean][]]>([
    [
      'a.ts',
      '/**\n * x\n */\n@dec\nexport abstract class A {}\nexport default function b() {}\n',
      [
        ['A', true],
        ['b', false],
      ],
    ],
    ['a.ts', '/** x */\nexport function f(a: 1): 1;\nexport function f(a: 2): 2;\n', [['f', true]]],
    [
      'a.py',
      'def one(\n    a,\n) -> int:\n    """Says."""\n\nclass Two:\n    pass\n\ndef _own():\n    pass\n',
      [
        ['one', true],
        ['Two', false],
      ],
    ],
    [
      'a.go',
      '// Run runs.\nfunc Run() {}\n\nfunc (t *T) Stop() {}\n\nfunc own() {}\n',
      [
        ['Run', true],
        ['Stop', false],
      ],
    ],
    [
      'a.rs',
      '/// Says.\n#[derive(Debug)]\npub struct A;\npub async fn b() {}\nfn own() {}\n',
      [
        ['A', true],
        ['b', false],
      ],
    ],
  ])('of public names is found in %s: %s', (file, text, expected) => {
    expect(publicNames(file, text)?.map(({ name, isDocumented }) => [name, isDocumented])).toEqual(expected);
  });

  test.each(['a.test.ts', 'test/a.ts', 'a.md', 'types.d.ts', 'test_a.py'])('is not looked for in %s', (file) => {
    expect(publicNames(file, 'export function one() {}\n')).toBeNull();
  });
});

describe('coverage', () => {
  const summary = (covered: number) =>
    JSON.stringify({
      total: { lines: { total: 10, covered } },
      [join(path, 'src/a.ts')]: { lines: { total: 10, covered } },
    });
  const gate = (text: string, more: object = {}) => ({
    kind: 'coverage',
    run: `mkdir -p coverage; printf '%s' '${text}' > coverage/out`,
    report: 'coverage/out',
    ...more,
  });

  test('below its threshold warns, with the files that have the least', async () => {
    const { receipt, excerpt } = await run(gate(summary(7)));
    expect(receipt).toMatchObject({ status: 'fail', severity: 'warn', scan: { percent: 70, threshold: 80 } });
    expect(excerpt).toContain('src/a.ts: 70 %');
    expect((await run(gate(summary(8)))).receipt.status).toBe('pass');
    expect((await run(gate(summary(7), { severity: 'block' }))).receipt.severity).toBeUndefined();
    expect((await run(gate('SF:src/a.ts\nLF:4\nLH:3\nend_of_record\n'))).receipt.scan).toMatchObject({ percent: 75 });
  });

  test('without figures is unverified, and failing tests fail', async () => {
    for (const text of ['{}', 'nothing', '{"total":{"lines":{"total":0,"covered":0}}}'])
      expect((await run(gate(text))).receipt.status).toBe('unverified');
    expect((await run({ ...gate(''), run: 'exit 1' })).receipt.status).toBe('unverified');
    const failing = gate(summary(9));
    expect((await run({ ...failing, run: `${failing.run}; exit 1` })).receipt.status).toBe('fail');
  });
});
