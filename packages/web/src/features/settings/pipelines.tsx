import type { Pipeline, Stage } from '@tidemill/contract';
import { useMemo } from 'react';
import Graph from '../../graph/graph.tsx';
import type { GraphEdge, GraphNode } from '../../graph/layout.ts';
import { useShown } from '../../shell/project.tsx';
import { stageText } from '../../words.ts';
import { Part } from './part.tsx';

/** Drawn from the very data the engine follows. */
export function Pipelines() {
  const { project } = useShown();
  const { pipelines, defaultPipeline } = project.rules;
  return (
    <Part
      id="pipelines"
      title="Pipelines"
      about={
        <>
          The way of a task, drawn from what the engine follows; dashed is the way back. Your own lie in{' '}
          <code>.tidemill/pipelines/</code>.
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
        {pipeline.name} {isDefault && <span className="dim">the default</span>}
      </h4>
      <p className="dim">{pipeline.description}</p>
      <Graph nodes={nodes} edges={edges} label={`Pipeline ${pipeline.name}`} />
    </article>
  );
}

const LOOK: Record<Stage['actor'], string> = { agent: 'working', human: 'waiting', system: 'reviewing' };

function whoOf(id: string, stage: Stage): string {
  if (stage.actor === 'agent') return stage.mode === id ? 'agent' : `agent: ${stageText(stage.mode)}`;
  if (stage.actor === 'human') return stage.onlyIfPlansAreReviewed ? 'you, if asked for' : 'you';
  return stage.does === 'verify' ? 'gates' : 'merge queue';
}

/** Outcomes that lead the same way are one arrow. */
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
