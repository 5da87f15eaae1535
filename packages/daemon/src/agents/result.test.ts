import { describe, expect, it } from 'vitest';
import { checkResult, exampleResult, readResult, repairRequest } from './result.ts';

const criteria = [
  { id: 'C1', text: 'adds numbers' },
  { id: 'C2', text: 'rounds half up' },
];
const build = { mode: 'implement', criteria } as const;
const review = { mode: 'review', criteria } as const;
const plan = { mode: 'plan', criteria } as const;

const DONE = '{"outcome":"pr_ready","summary":"done"}';
const done = { envelope: { outcome: 'pr_ready', summary: 'done' } };

describe('a result in plain text', () => {
  it.each([
    ['a fenced block', `All is well.\n\`\`\`json\n${DONE}\n\`\`\`\nBye.`],
    ['a block without a language', `\`\`\`\n${DONE}\n\`\`\``],
    ['a bare object', `Here it is: ${DONE}. Bye { not json }`],
    ['a bare object over several lines', `Done:\n${JSON.stringify(JSON.parse(DONE), null, 2)}`],
    ['a protocol line', '{"tidemill":"result","outcome":"pr_ready","summary":"done"}'],
    ['inline code', `My result is \`${DONE}\`.`],
    ['after another result', `{"outcome":"failed"} and then ${DONE}`],
    ['after other objects', `{"config": {"a": 1}} and \`\`\`json\n{"b": 2}\n\`\`\`\n${DONE}`],
    ['after code with braces', `function f() { return { "a": 1 } }\n{ "x\n${DONE}`],
    ['before another object', `${DONE}\nand {"unrelated": true}`],
  ])('is found: %s', (_name, text) => {
    expect(readResult(text, build)).toEqual(done);
  });

  it('may hold fences and braces in its strings', () => {
    const whole = { outcome: 'plan_complete', summary: '', plan: 'Run\n```sh\nls {a,b}\n```\n"}"' };
    expect(readResult(`\`\`\`json\n${JSON.stringify(whole, null, 1)}\n\`\`\``, plan)).toEqual({ envelope: whole });
  });

  it.each([
    ['', 'no JSON object'],
    ['I am done, all tests pass.', 'no JSON object'],
    ['{"summary":"done"}', 'no JSON object'],
    ['REVIEW_VERDICT: APPROVED', 'no JSON object'],
  ])('is missing in %j', (text, says) => {
    expect(readResult(text, build)).toHaveProperty('missing', expect.stringContaining(says));
  });

  it.each([
    ['{"outcome":"pr_ready","summary":"do', 'cut off'],
    [`${DONE} but then {"outcome": pr_ready}`, 'cannot be read'],
    [`${DONE}\n\`\`\`json\n{"summary": 1, "outcome": oops}\n\`\`\``, 'cannot be read'],
    ['{"outcome":"splendid"}', 'outcome'],
    ['{"outcome":"pr_ready","summary":7}', 'form. summary: Invalid input: expected string, received number'],
    ['{"tidemill":"result"}', 'outcome'],
    ['{"outcome":"approved"}', 'is not possible in mode implement; use one of pr_ready, no_changes'],
    ['{"outcome":"needs_info"}', 'has no question'],
    ['{"outcome":"needs_info","question":"  "}', 'has no question'],
  ])('says what is wrong with %j', (text, says) => {
    expect(readResult(text, build)).toHaveProperty('invalid', expect.stringContaining(says));
  });

  it.each([
    [{ open_questions: ['Which?'] }, ['Which?']],
    [{ openQuestions: ['Which?', 'When?'] }, ['Which?', 'When?']],
    [{ question: 'Which?' }, ['Which?']],
    [{ question: { text: 'Which?', options: ['a'] } }, ['Which?']],
    [{ open_questions: [{ question: 'Which?' }], question: 'Which?' }, ['Which?']],
  ])('has questions under any of their names: %j', (asked, questions) => {
    const read = checkResult({ outcome: 'needs_info', ...asked }, plan);
    const texts = 'envelope' in read ? read.envelope.open_questions?.map(({ text }) => text) : null;
    expect([...new Set(texts)]).toEqual(questions);
  });

  it('has typed questions with options and their own ids', () => {
    const port = {
      ...{ id: 'port', type: 'clarifying', text: 'Which port?', context: 'Both are free.', tags: ['net'] },
      options: [
        { label: '80', description: null, recommended: null },
        { label: '8080', recommended: true },
      ],
      ...{ defaultAnswer: '8080', allowFreeText: false, expiresAfter: null },
    };
    const read = checkResult({ outcome: 'needs_info', summary: null, open_questions: [port] }, build);
    expect(read).toMatchObject({
      envelope: {
        open_questions: [
          {
            ...{ id: 'port', type: 'clarifying', text: 'Which port?', context: 'Both are free.', tags: ['net'] },
            options: [
              { label: '80', description: '', recommended: false },
              { label: '8080', recommended: true },
            ],
            ...{ defaultAnswer: '8080', allowFreeText: false },
          },
        ],
      },
    });
  });

  it.each([
    ['an unknown type', { text: 'Which?', type: 'urgent', id: 'a' }, { text: 'Which?', type: 'blocking', id: 'a' }],
    ['options of another form', { text: 'Which?', options: 'a or b' }, { text: 'Which?', options: [] }],
    [
      'some bad options',
      { text: 'Which?', options: ['a', { label: '' }, 7] },
      { options: [{ label: 'a' }, { label: '7' }] },
    ],
    ['a number', 42, { text: '42', type: 'blocking' }],
    ['a text that is too long', 'x'.repeat(30_000), { text: expect.stringMatching(/^x{19999}…$/) }],
    ['no text at all', { which: 'port' }, { text: '{"which":"port"}', type: 'blocking' }],
    ['a default that is no text', { text: 'Which?', default: { a: 1 } }, { text: 'Which?' }],
  ])('does not lose a malformed question: %s', (_name, question, expected) => {
    const read = checkResult({ outcome: 'needs_info', open_questions: [question, 'And why?'] }, build);
    expect(read).toMatchObject({ envelope: { open_questions: [expected, { text: 'And why?' }] } });
  });

  it.each([
    [['scopeChanges', 'nonsense'], { scopeChanges: [''] }],
    [
      { scopeChanges: [], architectureDecisions: ['a', null, 'b'], other: ['c'] },
      { architectureDecisions: ['a', 'b'] },
    ],
    [{ dependencyModifications: 'left-pad' }, { dependencyModifications: ['left-pad'] }],
    ['everything', {}],
  ])('keeps what is valid in the declaration %j', (declares, expected) => {
    expect(checkResult({ outcome: 'pr_ready', declares }, build)).toMatchObject({ envelope: { declares: expected } });
  });

  it('must be complete for its mode', () => {
    expect(checkResult({ outcome: 'plan_complete' }, plan)).toHaveProperty(
      'invalid',
      expect.stringContaining('"plan"'),
    );
    expect(checkResult({ outcome: 'plan_complete', plan: 'p', subtasks: [{ title: 'a' }, 'b'] }, plan)).toMatchObject({
      envelope: { subtasks: ['a', 'b'] },
    });
    const found = { outcome: 'investigation_complete', investigationSummary: 'it leaks', plan: null };
    expect(checkResult(found, { mode: 'investigate', criteria })).toMatchObject({
      envelope: { investigationSummary: 'it leaks' },
    });
    expect(checkResult({ outcome: 'investigation_complete' }, { mode: 'investigate', criteria })).toHaveProperty(
      'invalid',
    );
    const half = { outcome: 'approved', review: { criteria: [{ id: 'C1', met: true }] } };
    expect(checkResult(half, review)).toHaveProperty('invalid', expect.stringContaining('C2 (rounds half up)'));
    expect(checkResult(null, review)).toHaveProperty('invalid');
  });

  it('has an example form that is itself a valid result, in every mode', () => {
    for (const mode of ['plan', 'plan_revision', 'investigate', 'implement', 'request_changes', 'review'] as const)
      expect(readResult(exampleResult({ mode, criteria }), { mode, criteria })).toHaveProperty('envelope');
    expect(repairRequest('It is cut off.', build)).toMatch(/It is cut off\.[\s\S]*```json/);
  });

  it.each([
    ['braces', '{"'.repeat(400_000)],
    ['open objects', '{"a":'.repeat(200_000)],
    ['strings without end', '{ "'.repeat(300_000)],
    ['fences', '```\n'.repeat(250_000)],
  ])('a result is looked for among %s, within the time limit of a test', (_name, noise) => {
    expect(readResult(noise, build)).not.toHaveProperty('envelope');
  });
});

describe('a verdict in words', () => {
  it('approves when its checklist speaks of every criterion', () => {
    const text = [
      '**Status:** APPROVED',
      '',
      '**Acceptance Criteria Review:**',
      '- [x] Criterion 1: Met (evidence: sum.test.ts:4)',
      '- [x] C2: Met (evidence: round.ts:9)',
      '',
      '**Code Quality Review:**',
      '- Tests: PASS (details: 12 of 12)',
      '- Documentation: FAIL (details: none)',
    ].join('\n');
    expect(readResult(text, review)).toMatchObject({
      envelope: {
        outcome: 'approved',
        review: {
          criteria: [
            { id: 'C1', met: true, evidence: 'sum.test.ts:4' },
            { id: 'C2', met: true, evidence: 'round.ts:9' },
          ],
        },
      },
    });
  });

  it('asks for changes, with its reasons and feedback', () => {
    const text = [
      'Status: REJECTED',
      '- [x] **C1** adds numbers: Met (evidence: seen)',
      '- [ ] rounds half up: Not met (reason: it truncates)',
      '- Tests: FAIL (details: 1 of 3 fails)',
      '**Feedback for Execution Agent:**',
      '- Round in sum.ts',
      '  with Math.round',
      '- Add a test',
    ].join('\n');
    expect(readResult(text, review)).toMatchObject({
      envelope: {
        outcome: 'changes_requested',
        review: {
          criteria: [
            { id: 'C1', met: true },
            { id: 'C2', met: false, evidence: 'it truncates' },
          ],
          comments: ['Round in sum.ts\nwith Math.round', 'Add a test', 'Tests: 1 of 3 fails'],
        },
      },
    });
  });

  it('may be the old verdict line, with numbered comments', () => {
    const text = 'I looked.\n1. Round it\n   in sum.ts\n2) Test it\n\n**REVIEW_VERDICT: CHANGES_REQUESTED**';
    expect(readResult(text, review)).toMatchObject({
      envelope: {
        outcome: 'changes_requested',
        review: { comments: ['Round it\nin sum.ts', 'Test it'], criteria: [] },
      },
    });
  });

  it('names the criteria it derived if the task has none', () => {
    const free = { mode: 'review', criteria: [] } as const;
    const none = expect.stringContaining('names none that it derived');
    expect(readResult('REVIEW_VERDICT: APPROVED', free)).toHaveProperty('invalid', none);
    expect(checkResult({ outcome: 'approved', review: { criteria: [{ id: 'C1', met: true }] } }, free)).toHaveProperty(
      'invalid',
      none,
    );
    const text = '- [x] It greets ann (evidence: greet.sh:2)\n- [x] It is quick\nREVIEW_VERDICT: APPROVED';
    const [greets, quick] = [{ text: 'It greets ann', met: true, evidence: 'greet.sh:2' }, { text: 'It is quick' }];
    expect(readResult(text, free)).toMatchObject({ envelope: { review: { criteria: [greets, quick] } } });
    const shown = { files: ['greet.sh'], gates: [] };
    expect(readResult(text, { ...free, shown })).toHaveProperty('invalid', expect.stringContaining('It is quick'));
  });

  it.each([
    ['an approval that judges nothing', 'REVIEW_VERDICT: APPROVED', 'does not mention C1'],
    ['two verdicts', 'REVIEW_VERDICT: APPROVED\nREVIEW_VERDICT: CHANGES_REQUESTED', 'both'],
    ['checklist and verdict at odds', '**Status:** REJECTED\nREVIEW_VERDICT: APPROVED', 'both'],
  ])('is no approval: %s', (_name, text, says) => {
    expect(readResult(text, review)).toHaveProperty('invalid', expect.stringContaining(says));
  });

  it('is no approval while a test, the linter or a security check fails, or a box contradicts its words', () => {
    const boxes = '- [x] C1: Met\n- [x] C2: Not met (reason: no)';
    expect(readResult(`Status: APPROVED\n${boxes}\n- Security: FAIL (details: a key)`, review)).toMatchObject({
      envelope: { outcome: 'changes_requested', review: { comments: ['Security: a key'] } },
    });
    expect(readResult(`Status: APPROVED\n${boxes}`, review)).toMatchObject({
      envelope: { review: { criteria: [{ met: true }, { met: false }] } },
    });
  });

  it.each([
    '**Status:** APPROVED | REJECTED',
    'Say REVIEW_VERDICT: APPROVED or CHANGES_REQUESTED',
    'the status: approved it is',
  ])('is not there in %j', (text) => {
    const read = readResult(text, review);
    expect('missing' in read || 'invalid' in read).toBe(true);
  });

  it('gives way to a JSON result', () => {
    const json = '{"outcome":"changes_requested","review":{"comments":["no"]}}';
    expect(readResult(`REVIEW_VERDICT: APPROVED\n${json}`, review)).toMatchObject({
      envelope: { outcome: 'changes_requested' },
    });
  });
});

it('a result with keys that a specification does not have is refused, and the right keys are named', () => {
  const task = { id: 'T1', title: 'Print', phase: 'api', requirements: ['R1'] };
  const spec = (more: object, inTask: object = {}) => ({
    outcome: 'spec_ready',
    spec: { title: 'Export', requirements: [{ id: 'R1', text: 'rows' }], tasks: [{ ...task, ...inTask }], ...more },
  });
  const expected = { mode: 'specify', criteria: [] } as const;
  expect(checkResult(spec({}), expected)).toHaveProperty('envelope');
  const invalid = (given: object) => {
    const read = checkResult(given, expected);
    return 'invalid' in read ? read.invalid : '';
  };
  expect(invalid(spec({}, { depends_on: ['T0'] }))).toMatch(
    /spec\.tasks\[0\]: unknown key "depends_on"; did you mean "dependsOn"\?/,
  );
  expect(invalid(spec({ scope: { in: [], outside: ['x'] } }))).toContain('unknown key "outside"');
  expect(invalid(spec({ requirements: [{ id: 'R1', description: 'rows', text: 'rows' }] }))).toContain(
    'did you mean "text"?',
  );
  expect(invalid(spec({ constraints: [] }))).toContain('the keys here are title, summary');
});
