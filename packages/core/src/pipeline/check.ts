import { MODES, type Outcome, type Pipeline, RESERVED_STAGES, type Stage } from '@tidemill/contract';

/** Work in these outcomes is unfinished or on no target: a task must not end with it. */
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

/** Everything that would strand a task, found before a task is in it. Empty means sound. */
export function checkPipeline(pipeline: Pipeline, gateNames: string[]): PipelineFault[] {
  const names = Object.keys(pipeline.stages);
  const faults: PipelineFault[] = [];
  for (const reserved of RESERVED_STAGES) {
    if (names.includes(reserved))
      faults.push({ path: ['stages', reserved], message: `"${reserved}" is built in; choose another name` });
  }
  const start = pipeline.stages[pipeline.start];
  if (!start) faults.push({ path: ['start'], message: `start names no stage; the stages are ${names.join(', ')}` });
  else if (start.actor !== 'agent')
    faults.push({
      path: ['start'],
      message: `the start stage needs an agent, "${pipeline.start}" has actor ${start.actor}`,
    });
  else if (start.mode === 'review')
    faults.push({
      path: ['start'],
      message: `"${pipeline.start}" reviews, and at the start there is nothing to review`,
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
        message: `${outcome} leads to "${target}", which is no stage, nor done or blocked`,
      });
    if (target === 'done' && NEVER_DONE.includes(outcome as Outcome))
      faults.push({
        path: [...path, 'on', outcome],
        message: `${outcome} cannot lead to done: nothing has landed then`,
      });
  }
  if (stage.actor === 'agent') {
    for (const outcome of MODES[stage.mode].outcomes) {
      if (!(outcome in stage.on))
        faults.push({
          path: [...path, 'on'],
          message: `mode ${stage.mode} can end in ${outcome}, and no transition is given for it`,
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
