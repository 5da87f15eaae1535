import './graph.css';
import { Graph as Layout, layout } from '@dagrejs/dagre';
import { useMemo } from 'react';
import { Link } from 'wouter';

export interface GraphNode {
  id: string;
  label: string;
  /** A second, smaller line. */
  about?: string;
  /** One of the page's status classes. */
  look?: string;
  href?: string;
}

export interface GraphEdge {
  from: string;
  to: string;
  label?: string;
}

const HEIGHT = 44;
const LETTER = 7.2;
const MOST_LETTERS = 24;

/** Boxes and arrows from left to right. What it shows is also said as a list, for whoever cannot see it. */
export default function Graph({ nodes, edges, label }: { nodes: GraphNode[]; edges: GraphEdge[]; label: string }) {
  const laid = useMemo(() => layOut(nodes, edges), [nodes, edges]);
  return (
    <figure className="graph">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section className="scroll" aria-label={label} tabIndex={0}>
        <svg
          width={laid.width}
          height={laid.height}
          viewBox={`-4 -4 ${laid.width + 8} ${laid.height + 8}`}
          role="group"
          aria-label={label}
        >
          <defs>
            <marker
              id="tip"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto-start-reverse"
            >
              <path d="M0 0 L8 4 L0 8 z" />
            </marker>
          </defs>
          {laid.edges.map(({ from, to, label: name, points, at }) => (
            <g key={`${from} ${to} ${name}`} className="edge" aria-hidden="true">
              <path d={`M${points.map(({ x, y }) => `${x} ${y}`).join(' L')}`} markerEnd="url(#tip)" />
              {name && at && (
                <text x={at.x} y={at.y - 4} textAnchor="middle">
                  {name}
                </text>
              )}
            </g>
          ))}
          {laid.nodes.map((node) => (
            <Box key={node.id} node={node} />
          ))}
        </svg>
      </section>
      <ul className="unseen">
        {edges.map(({ from, to, label: name }) => (
          <li key={`${from} ${to} ${name}`}>
            {from} leads to {to}
            {name && ` on ${name}`}
          </li>
        ))}
      </ul>
    </figure>
  );
}

interface Laid extends GraphNode {
  x: number;
  y: number;
  width: number;
}

function Box({ node: { label, about, look, href, x, y, width } }: { node: Laid }) {
  const body = (
    <g className={`node ${look ?? ''}`} transform={`translate(${x - width / 2} ${y - HEIGHT / 2})`}>
      <title>{label}</title>
      <rect width={width} height={HEIGHT} rx={6} />
      <text x={width / 2} y={about ? 18 : 27} textAnchor="middle">
        {cut(label)}
      </text>
      {about && (
        <text className="about" x={width / 2} y={35} textAnchor="middle">
          {cut(about)}
        </text>
      )}
    </g>
  );
  return href ? <Link href={href}>{body}</Link> : body;
}

const cut = (text: string) => (text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text);

function layOut(nodes: GraphNode[], edges: GraphEdge[]) {
  const graph = new Layout({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 48, edgesep: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const widthOf = ({ label, about = '' }: GraphNode) =>
    Math.max(72, Math.max(cut(label).length, cut(about).length) * LETTER + 24);
  for (const node of nodes) graph.setNode(node.id, { width: widthOf(node), height: HEIGHT });
  const known = new Set(nodes.map(({ id }) => id));
  const drawn = edges.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to);
  // Each has a name of its own: two may lead the same way, and an empty name is none.
  for (const [index, { from, to, label = '' }] of drawn.entries())
    graph.setEdge(from, to, { width: label.length * 6, height: label ? 16 : 1, labelpos: 'c' }, `${index}`);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width: Math.max(1, width),
    height: Math.max(1, height),
    nodes: nodes.map((node): Laid => {
      const { x, y } = graph.node(node.id) as { x: number; y: number };
      return { ...node, x, y, width: widthOf(node) };
    }),
    edges: drawn.map((edge, index) => {
      const place = graph.edge(edge.from, edge.to, `${index}`) as {
        points: { x: number; y: number }[];
        x?: number;
        y?: number;
      };
      const at = place.x === undefined || place.y === undefined ? null : { x: place.x, y: place.y };
      return { ...edge, points: place.points, at };
    }),
  };
}
