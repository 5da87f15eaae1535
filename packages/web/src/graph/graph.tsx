import './graph.css';
import { useId, useMemo } from 'react';
import { Link } from 'wouter';
import {
  cut,
  fitLayout,
  type GraphEdge,
  type GraphNode,
  type LaidNode,
  NODE_HEIGHT,
  pathOf,
  WORD_HEIGHT,
  wordLines,
} from './layout.ts';
import { useWidth } from './width.ts';

const SMALLEST = 0.8;

/** Boxes and arrows, scaled to fit. A hidden list says the same for screen readers. */
export default function Graph({ nodes, edges, label }: { nodes: GraphNode[]; edges: GraphEdge[]; label: string }) {
  const [element, room] = useWidth<HTMLElement>();
  const laid = useMemo(() => fitLayout(nodes, edges, room), [nodes, edges, room]);
  // Shrink to fit, but stay readable.
  const scale = room === 0 ? 1 : Math.min(1, Math.max(SMALLEST, room / laid.width));
  const tip = useId();
  const names = useMemo(() => new Map(nodes.map((node) => [node.id, node.label])), [nodes]);
  return (
    <figure className="graph">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section ref={element} className="scroll" aria-label={label} tabIndex={0}>
        {/* biome-ignore lint/a11y/noSvgWithoutTitle: the surrounding section has the name */}
        <svg width={laid.width * scale} height={laid.height * scale} viewBox={`0 0 ${laid.width} ${laid.height}`}>
          <defs>
            <marker
              id={tip}
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
          {laid.edges.map(({ from, to, label: name, points, isBack }) => (
            <path
              key={`${from} ${to} ${name}`}
              className={isBack ? 'edge back' : 'edge'}
              d={pathOf(points)}
              markerEnd={`url(#${tip})`}
            />
          ))}
          {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: labels, which the list below repeats as sentences */}
          <g aria-hidden="true">
            {laid.edges.map(
              ({ from, to, label: name, at }) =>
                name && at && <Word key={`${from} ${to} ${name}`} text={name} x={at.x} y={at.y} />,
            )}
          </g>
          {laid.nodes.map((node) => (
            <Box key={node.id} node={node} />
          ))}
        </svg>
      </section>
      <ul className="unseen">
        {edges.map(({ from, to, label: name }) => (
          <li key={`${from} ${to} ${name}`}>
            {names.get(from) ?? from} leads to {names.get(to) ?? to}
            {name && ` on ${name}`}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function Word({ text, x, y }: { text: string; x: number; y: number }) {
  const lines = wordLines(text);
  const top = y + 4 - ((lines.length - 1) * WORD_HEIGHT) / 2;
  return lines.map((line, index) => (
    <text key={line} className="word" x={x} y={top + index * WORD_HEIGHT}>
      {line}
    </text>
  ));
}

function Box({ node: { label, about, look, href, x, y, width } }: { node: LaidNode }) {
  const body = (
    <g className={`node ${look ?? ''}`} transform={`translate(${x - width / 2} ${y - NODE_HEIGHT / 2})`}>
      <title>{about ? `${label}: ${about}` : label}</title>
      <rect width={width} height={NODE_HEIGHT} rx={6} />
      <text x={width / 2} y={about ? 18 : 27}>
        {cut(label)}
      </text>
      {about && (
        <text className="about" x={width / 2} y={35}>
          {cut(about)}
        </text>
      )}
    </g>
  );
  return href ? <Link href={href}>{body}</Link> : body;
}
