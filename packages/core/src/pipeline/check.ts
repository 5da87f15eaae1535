import { MODES, type Outcome, type Pipeline, RESERVED_STAGES, type Stage } from '@tidemill/contract';

/** After these outcomes the work is unfinished or not on the target: a task must not end with them. */
const NEVER_DONE: Outcome[] = [
  'pr_ready',
  'failed',
  'changes_requested',
  'conflicts_detected',
  'needs_info',
  'interrupted',
];

export interface PipelineFault {
  /** Where in the document, for a line number. */
  path: (string | number)[];
  message: string;
}

/** Everything that would leave a task without a next stage. Empty means the pipeline is valid. */
export function checkPipeline(pipeline: Pipeline, gateNames: string[]): PipelineFault[] {
  const names = Object.keys(pipeline.stages);
  const faults: PipelineFault[] = [];
  for (const reserved of RESERVED_STAGES) {
    if (names.includes(reserved))
      faults.push({ path: ['stages', reserved], message: `"${reserved}" is built in; choose another name` });
  }
  const start = pipeline.stages[pipeline.start];
  if (!start)
    faults.push({ path: ['start'], message: `start is not the name of a stage; the stages are ${names.join(', ')}` });
  else if (start.actor !== 'agent')
    faults.push({
      path: ['start'],
      message: `the start stage needs an agent, "${pipeline.start}" has actor ${start.actor}`,
    });
  else if (start.mode === 'review')
    faults.push({
      path: ['start'],
      message: `"${pipeline.start}" is a review, and there is nothing to review at the start`,
    });
  for (const [name, stage] of Object.entries(pipeline.stages))
    faults.push(...checkStage(name, stage, names, gateNames));
  const reached = reachable(pipeline);
  for (const name of names) {
    if (!reached.has(name)) faults.push({ path: ['stages', name], message: `no transition leads to "${name}"` });
  }
  if (start && !reached.has('done')) faults.push({ path: ['stages'], message: 'no path leads to done' });
  return faults;
}

function checkStage(name: string, stage: Stage, names: string[], gateNames: string[]): PipelineFault[] {
  const faults: PipelineFault[] = [];
  const path = ['stages', name];
  for (const [outcome, target] of Object.entries(stage.on)) {
    if (!names.includes(target) && target !== 'done' && target !== 'blocked')
      faults.push({
        path: [...path, 'on', outcome],
        message: `${outcome} leads to "${target}", which is not a stage, done or blocked`,
      });
    if (target === 'done' && NEVER_DONE.includes(outcome as Outcome))
      faults.push({
        path: [...path, 'on', outcome],
        message: `${outcome} cannot lead to done: nothing has landed at that point`,
      });
  }
  if (stage.actor === 'agent') {
    for (const outcome of MODES[stage.mode].outcomes) {
      if (!(outcome in stage.on))
        faults.push({
          path: [...path, 'on'],
          message: `mode ${stage.mode} can end in ${outcome}, but \`on\` has no transition for it`,
        });
    }
  }
  if (stage.actor === 'system' && stage.does === 'verify') {
    stage.gates?.forEach((gate, index) => {
      if (!gateNames.includes(gate))
        faults.push({
          path: [...path, 'gates', index],
          message: `unknown gate "${gate}"; the gates are ${gateNames.join(', ') || 'none yet'}`,
        });
    });
  }
  return faults;
}

function reachable(pipeline: Pipeline): Set<string> {
  const seen = new Set<string>();
  const pending = [pipeline.start];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    pending.push(...Object.values(pipeline.stages[name]?.on ?? {}));
  }
  return seen;
}
