import type { Pipeline } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { builtinPipelines } from './builtin.ts';
import { checkPipeline } from './check.ts';

const GATES = ['integrity', 'test'];
const sound = builtinPipelines.quick!;
const { implement, verify, merge } = sound.stages;

const withStages = (stages: Record<string, unknown>, start = 'implement') =>
  ({ ...sound, start, stages: { ...sound.stages, ...stages } }) as Pipeline;

describe('the check of a pipeline', () => {
  test.each(Object.entries(builtinPipelines))('accepts the built-in pipeline %s', (name, pipeline) => {
    expect(pipeline.name).toBe(name);
    expect(checkPipeline(pipeline, GATES)).toEqual([]);
  });

  test.each<[string, Pipeline, string, RegExp]>([
    ['a reserved name', withStages({ blocked: verify }), 'stages.blocked', /built in/],
    [
      'an unknown start stage',
      withStages({}, 'begin'),
      'start',
      /is not the name of a stage; the stages are implement, verify, merge/,
    ],
    ['start is not an agent', withStages({}, 'verify'), 'start', /needs an agent/],
    [
      'start is a review',
      withStages(
        { look: { actor: 'agent', mode: 'review', on: { approved: 'implement', changes_requested: 'implement' } } },
        'look',
      ),
      'start',
      /nothing to review/,
    ],
    [
      'a transition to nowhere',
      withStages({ verify: { ...verify, on: { approved: 'merge', failed: 'repair' } } }),
      'stages.verify.on.failed',
      /"repair", which is not a stage/,
    ],
    [
      'an outcome without a transition',
      withStages({ implement: { ...implement, on: { pr_ready: 'verify' } } }),
      'stages.implement.on',
      /can end in no_changes/,
    ],
    [
      'an unknown gate',
      withStages({ verify: { ...verify, gates: ['test', 'tset'] } }),
      'stages.verify.gates.1',
      /unknown gate "tset"/,
    ],
    ['an unreachable stage', withStages({ island: merge }), 'stages.island', /no transition leads to "island"/],
    [
      'no way to done',
      withStages({
        merge: { ...merge, on: { approved: 'implement', failed: 'implement', conflicts_detected: 'implement' } },
      }),
      'stages',
      /no path leads to done/,
    ],
    [
      'an agent that ends its own task',
      withStages({ implement: { ...implement, on: { pr_ready: 'done', no_changes: 'verify' } } }),
      'stages.implement.on.pr_ready',
      /pr_ready cannot lead to done/,
    ],
    [
      'a failure that counts as done',
      withStages({ verify: { ...verify, on: { approved: 'merge', failed: 'done' } } }),
      'stages.verify.on.failed',
      /failed cannot lead to done/,
    ],
  ])('reports %s, with its place', (_name, pipeline, path, message) => {
    const faults = checkPipeline(pipeline, GATES);
    expect(faults.map((fault) => [fault.path.join('.'), fault.message])).toContainEqual([
      path,
      expect.stringMatching(message),
    ]);
  });

  test('reports all faults at once', () => {
    const pipeline = withStages({ open: verify, island: { ...merge, on: { ...merge!.on, failed: 'x' } } }, 'begin');
    expect(checkPipeline(pipeline, GATES).length).toBeGreaterThan(3);
  });
});
