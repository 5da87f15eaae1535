import type { Pipeline, Stage } from '@tidemill/contract';
import { useMemo } from 'react';
import Graph from '../../graph/graph.tsx';
import type { GraphEdge, GraphNode } from '../../graph/layout.ts';
import { useShown } from '../../shell/project.tsx';
import { stageText } from '../../words.ts';
import { Part } from './part.tsx';

/** Drawn from the data that the engine uses. */
export function Pipelines() {
  const { project } = useShown();
  const { pipelines, defaultPipeline } = project.rules;
  return (
    <Part
      id="pipelines"
      title="Pipelines"
      about={
        <>
          The stages of a task. Dashed arrows lead back. Your own pipelines are in <code>.tidemill/pipelines/</code>.
        </>
      }
    >
      <div className="pipelines">
        {Object.values(pipelines).map((pipeline) => (
          <Drawing key={pipeline.name} pipeline={pipeline} isDefault={pipeline.name === defaultPipeline} />
        ))}
      </div>
    </Part>
  );
}

function Drawing({ pipeline, isDefault }: { pipeline: Pipeline; isDefault: boolean }) {
  const { nodes, edges } = useMemo(() => graphOf(pipeline), [pipeline]);
  return (
    <article className="card pipeline">
      <h4>
        {pipeline.name} {isDefault && <span className="dim">default</span>}
      </h4>
      <p className="dim">{pipeline.description}</p>
      <Graph nodes={nodes} edges={edges} label={`Pipeline ${pipeline.name}`} />
    </article>
  );
}

const LOOK: Record<Stage['actor'], string> = { agent: 'working', human: 'waiting', system: 'reviewing' };

function whoOf(id: string, stage: Stage): string {
  if (stage.actor === 'agent') return stage.mode === id ? 'agent' : `agent: ${stageText(stage.mode)}`;
  if (stage.actor === 'human') return stage.onlyIfPlansAreReviewed ? 'you, if plans are reviewed' : 'you';
  return stage.does === 'verify' ? 'gates' : 'merge queue';
}

/** Outcomes with the same next stage share one arrow. */
function graphOf({ start, stages }: Pipeline): { nodes: GraphNode[]; edges: GraphEdge[] } {
  const edges: GraphEdge[] = [{ from: 'open', to: start }];
  for (const [from, stage] of Object.entries(stages)) {
    const ways = new Map<string, string[]>();
    for (const [outcome, to] of Object.entries(stage.on as Record<string, string>))
      ways.set(to, [...(ways.get(to) ?? []), stageText(outcome)]);
    for (const [to, outcomes] of ways) edges.push({ from, to, label: outcomes.join(', ') });
  }
  const ends = [...new Set(edges.map(({ to }) => to))].filter((name) => !(name in stages));
  return {
    nodes: [
      { id: 'open', label: 'open' },
      ...Object.entries(stages).map(([id, stage]) => ({
        id,
        label: stageText(id),
        about: whoOf(id, stage),
        look: LOOK[stage.actor],
      })),
      ...ends.map((id) => ({ id, label: stageText(id), look: id === 'done' ? 'landed' : 'paused' })),
    ],
    edges,
  };
}
