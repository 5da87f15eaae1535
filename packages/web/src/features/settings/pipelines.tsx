import type { Pipeline, Stage } from '@tidemill/contract';
import { useMemo } from 'react';
import Graph, { type GraphEdge, type GraphNode } from '../../graph/graph.tsx';
import { useShown } from '../../shell/project.tsx';
import { stageText } from '../../words.ts';
import { Part } from './part.tsx';

/** Drawn from the very data the engine follows. */
export function Pipelines() {
  const { project } = useShown();
  const { pipelines, defaultPipeline } = project.rules;
  return (
    <Part id="pipelines" title="Pipelines" about="Your own lie in .tidemill/pipelines/.">
      {Object.values(pipelines).map((pipeline) => (
        <Drawing key={pipeline.name} pipeline={pipeline} isDefault={pipeline.name === defaultPipeline} />
      ))}
    </Part>
  );
}

function Drawing({ pipeline, isDefault }: { pipeline: Pipeline; isDefault: boolean }) {
  const { nodes, edges } = useMemo(() => graphOf(pipeline), [pipeline]);
  return (
    <article className="card pipeline">
      <h4>
        {pipeline.name} {isDefault && <span className="dim">the default</span>}
      </h4>
      <p className="dim">{pipeline.description}</p>
      <Graph nodes={nodes} edges={edges} label={`Pipeline ${pipeline.name}`} />
    </article>
  );
}

const LOOK: Record<Stage['actor'], string> = { agent: 'working', human: 'waiting', system: 'reviewing' };

function whoOf(stage: Stage): string {
  if (stage.actor === 'agent') return `agent, ${stageText(stage.mode)}`;
  if (stage.actor === 'human') return 'you';
  return stage.does === 'verify' ? 'gates' : 'merge queue';
}

function graphOf({ start, stages }: Pipeline): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const targets = Object.entries(stages).flatMap(([from, stage]) =>
    Object.entries(stage.on).map(([outcome, to]) => ({ from, to: to as string, label: stageText(outcome) })),
  );
  const ends = [...new Set(targets.map(({ to }) => to))].filter((name) => !(name in stages));
  return {
    nodes: [
      { id: 'open', label: 'open' },
      ...Object.entries(stages).map(([id, stage]) => ({
        id,
        label: `${stageText(id)} · ${whoOf(stage)}`,
        look: LOOK[stage.actor],
      })),
      ...ends.map((id) => ({ id, label: stageText(id), look: id === 'done' ? 'landed' : 'paused' })),
    ],
    edges: [{ from: 'open', to: start }, ...targets],
  };
}
