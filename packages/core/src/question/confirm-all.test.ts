import { AUTONOMY_PRESETS, type Declarations, type Pipeline, personActor, type Question } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { defaultRules, Mill } from '../../../../test/support/mill.ts';
import { builtinPipelines } from '../pipeline/builtin.ts';
import { APPROVE } from './effect.ts';
import { touchesOf } from './touches.ts';

const projectId = 'project_1';
const by = personActor('ada');
const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
const { confirm_all, major_only, full } = AUTONOMY_PRESETS;

const { implement, verify, merge } = builtinPipelines.quick!.stages;
const own = (name: string, start: string, stages: Pipeline['stages']): Pipeline => ({
  name,
  description: '',
  start,
  stages: { implement: implement!, verify: verify!, merge: merge!, ...stages },
});
/** A project's own: a plan that leads straight to the work, and a pipeline in which a person looks at the change. */
const pipelines: Record<string, Pipeline> = {
  ...builtinPipelines,
  straight: own('straight', 'draft', { draft: { actor: 'agent', mode: 'plan', on: { plan_complete: 'implement' } } }),
  looked: own('looked', 'implement', {
    verify: { actor: 'system', does: 'verify', on: { approved: 'look', failed: 'implement' } },
    look: { actor: 'human', onlyIfPlansAreReviewed: false, on: { approved: 'merge', changes_requested: 'implement' } },
  }),
};

const open = (mill: Mill): Question[] =>
  [...mill.records.values()].filter((each): each is Question => each.noun === 'question' && each.status === 'open');
const approve = (mill: Mill, taskId: string) => mill.must({ type: 'task.approve', projectId, taskId, by });

/** Ends an implement run whose change has these files. What they touch is computed as the engine does it. */
function build(mill: Mill, taskId: string, files: string[], declares: Declarations = {}, content = 'one') {
  const { fence, runId } = mill.startRun(taskId);
  const tree = `${taskId}-tree-${mill.runs.size}`;
  mill.must({ type: 'work.commit', ...fence, commit: `c-${tree}`, tree, notes: [] });
  mill.prove(fence, tree);
  const touched = touchesOf(files, mill.task(taskId), mill.rules());
  const touches = Object.fromEntries(touched.map(([matter, those]) => [matter, `${content} ${those.join()}`]));
  const envelope = { outcome: 'pr_ready' as const, summary: 'built', declares };
  const more = { touches, touchedFiles: Object.fromEntries(touched) };
  return mill.must({ type: 'run.finish', ...fence, runId, outcome: 'pr_ready', envelope, usage, tree, ...more });
}

describe('with confirm_all', () => {
  const millOf = () => new Mill({ hilConfig: confirm_all, pipelines });

  test('a plan waits in its own stage, where there is one', () => {
    const mill = millOf();
    const task = mill.add({ pipeline: 'feature' });
    const declares = { architectureDecisions: ['a new module'] };
    mill.end(task, 'plan_complete', { envelope: { plan: 'the plan', declares } });
    expect(mill.task(task)).toMatchObject({ stage: 'plan_review' });
    expect(open(mill)).toEqual([]);
    approve(mill, task);
    expect(mill.task(task)).toMatchObject({ stage: 'implement', approvedDeclared: declares });
  });

  test.each([
    ['bug', 'investigate', 'investigation_complete'],
    ['straight', 'draft', 'plan_complete'],
  ] as const)('in %s, what %s found waits for a person before the work begins', (pipeline, stage, outcome) => {
    const mill = millOf();
    const task = mill.add({ pipeline });
    const envelope = { plan: 'repair the lock', investigationSummary: 'it leaks' };
    mill.end(task, outcome, { envelope });
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'implement', lease: null });
    expect(open(mill)).toMatchObject([
      { text: expect.stringContaining('the plan is ready'), context: 'it leaks\n\nrepair the lock', tags: ['plan'] },
    ]);
    mill.must({ type: 'task.reject', projectId, taskId: task, by, note: 'look at the other lock' });
    expect(mill.task(task)).toMatchObject({ stage, feedback: [{ kind: 'person', text: 'look at the other lock' }] });
    mill.end(task, outcome, { envelope });
    approve(mill, task);
    expect(mill.task(task)).toMatchObject({ stage: 'implement', openQuestions: [] });
  });

  test('in quick, which has no plan, the whole change waits, and waits again with other content', () => {
    const mill = millOf();
    const task = mill.add({ pipeline: 'quick', files: ['src/**'] });
    build(mill, task, ['src/a.ts']);
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info', resumeStage: 'merge' });
    expect(open(mill)).toMatchObject([
      {
        text: expect.stringContaining('without a plan that you have seen'),
        context: expect.stringContaining('src/a.ts'),
      },
    ]);
    approve(mill, task);
    expect(mill.task(task).stage).toBe('merge');
    mill.end(task, 'failed', { failure: 'validation', message: 'red' });
    build(mill, task, ['src/a.ts']);
    expect(mill.task(task).stage).toBe('merge');
    mill.end(task, 'failed', { failure: 'validation', message: 'red again' });
    build(mill, task, ['src/a.ts'], {}, 'two');
    expect(mill.task(task)).toMatchObject({ stage: 'needs_info' });
  });

  test('the change does not wait before a stage in which a person looks at it', () => {
    const mill = millOf();
    const task = mill.add({ pipeline: 'looked' });
    build(mill, task, ['src/a.ts']);
    expect(mill.task(task).stage).toBe('look');
  });

  test.each(Object.keys(pipelines))(
    'in %s, changes of scope, architecture and dependencies wait, whatever the agent says',
    (pipeline) => {
      for (const file of ['docs/outside.md', 'Dockerfile', 'src/package.json']) {
        const mill = millOf();
        const task = mill.add({ pipeline, files: ['src/**', 'Dockerfile'] });
        for (
          let steps = 0;
          mill.task(task).stage !== 'implement' && pipelines[pipeline]!.start !== 'implement';
          steps += 1
        ) {
          if (steps > 5) throw new Error(`${mill.task(task).stage} does not lead to implement`);
          if (mill.task(task).role === null) approve(mill, task);
          else
            mill.end(task, pipeline === 'bug' ? 'investigation_complete' : 'plan_complete', {
              envelope: { plan: 'p' },
            });
        }
        build(mill, task, [file]);
        expect(mill.task(task)).toMatchObject({ stage: 'needs_info', lease: null });
        approve(mill, task);
        expect(mill.task(task).stage).toBe(
          pipeline === 'looked' ? 'look' : pipeline === 'quick' || pipeline === 'straight' ? 'merge' : 'review',
        );
      }
    },
  );
});

describe('a decision that an agent declares', () => {
  const declared = (hilConfig: typeof full, declares: Declarations) => {
    const mill = new Mill({ hilConfig, pipelines });
    const task = mill.add({ pipeline: 'straight' });
    mill.end(task, 'plan_complete', { envelope: { plan: 'p' } });
    if (mill.task(task).stage === 'needs_info') approve(mill, task);
    const events = build(mill, task, ['src/a.ts'], declares);
    return { mill, task, alerts: events.filter(({ type }) => type === 'alert.raised') };
  };
  const cache = { architectureDecisions: ['a new module src/cache'] };

  test.each([
    ['automated: continues', full, 'merge', 0],
    [
      'notify_and_proceed: continues with a notice',
      { ...full, architectureDecisions: 'notify_and_proceed' as const },
      'merge',
      1,
    ],
    ['requires_approval: waits', major_only, 'needs_info', 0],
  ])('is handled by the level of autonomy: %s', (_name, hilConfig, stage, count) => {
    const { mill, task, alerts } = declared(hilConfig, cache);
    expect([mill.task(task).stage, alerts.length]).toEqual([stage, count]);
  });

  test('is shown in the question, approved as it was said, and another decision is asked about again', () => {
    const { mill, task } = declared(major_only, cache);
    expect(open(mill)).toMatchObject([
      { tags: ['architectureDecisions'], context: expect.stringContaining('- a new module src/cache') },
    ]);
    approve(mill, task);
    expect(mill.task(task)).toMatchObject({ stage: 'merge', approvedDeclared: cache });
    const again = (declares: Declarations) => {
      mill.end(task, 'failed', { failure: 'validation', message: `red ${mill.runs.size}` });
      build(mill, task, ['src/a.ts'], declares);
      return mill.task(task).stage;
    };
    expect(again({ architectureDecisions: ['A new module: src/cache.'] })).toBe('merge');
    expect(again({ architectureDecisions: ['a new module src/cache', 'Redis for sessions'] })).toBe('needs_info');
    expect(open(mill)[0]?.context).not.toContain('src/cache');
    mill.must({
      type: 'question.answer',
      projectId,
      taskId: task,
      questionId: open(mill)[0]!.id,
      by,
      source: 'user',
      text: APPROVE,
    });
    expect(mill.task(task).approvedDeclared.architectureDecisions).toEqual([
      'a new module src/cache',
      'Redis for sessions',
    ]);
  });
});

describe('a change of the architecture', () => {
  const rules = { ...defaultRules, critical: [] };
  const task = { files: [], pipeline: 'feature', hilConfig: null };
  test.each([
    ['api/openapi.yaml', true],
    ['.github/workflows/ci.yml', true],
    ['deploy/main.tf', true],
    ['db/migrations/001.sql', true],
    ['compose.yaml', true],
    ['web/index.ts', true],
    ['libs/a/package.json', true],
    ['libs/b/package.json', false],
    ['src/dockerfile-parser.ts', false],
    ['src/migrations.ts', false],
    ['README.md', false],
  ])('is seen in the file %s: %s', (file, isArchitecture) => {
    const added = new Set(['web', 'libs/a/package.json']);
    const matters = touchesOf([file], task, rules, added).map(([matter]) => matter);
    expect(matters.includes('architectureDecisions')).toBe(isArchitecture);
  });
});
