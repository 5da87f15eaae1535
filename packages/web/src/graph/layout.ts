import { Graph as Layout, layout } from '@dagrejs/dagre';

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

interface Spot {
  x: number;
  y: number;
}

export interface LaidNode extends GraphNode, Spot {
  width: number;
}

interface LaidEdge extends GraphEdge {
  points: Spot[];
  /** Position of its label. */
  at: Spot | null;
  /** Leads back to an earlier node. */
  isBack: boolean;
}

export interface LaidGraph {
  width: number;
  height: number;
  nodes: LaidNode[];
  edges: LaidEdge[];
}

export const NODE_HEIGHT = 44;
const LETTER = 7.4;
const SMALL_LETTER = 6.2;
const MOST_LETTERS = 24;
const MARGIN = 8;

export const cut = (text: string) => (text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS - 1)}…` : text);

const widthOf = ({ label, about = '' }: GraphNode) =>
  Math.max(72, Math.max(cut(label).length * LETTER, cut(about).length * SMALL_LETTER) + 20);

/** Splits a label with several names into lines. */
export const wordLines = (label: string) => label.split(/(?<=,) /);
export const WORD_HEIGHT = 14;

const wordWidth = (label: string) => Math.max(...wordLines(label).map((line) => line.length)) * SMALL_LETTER;

/** Left to right; top to bottom if that is too wide. */
export function fitLayout(nodes: GraphNode[], edges: GraphEdge[], room: number): LaidGraph {
  const across = layOut(nodes, edges, 'LR');
  if (room === 0 || across.width <= room) return across;
  const down = layOut(nodes, edges, 'TB');
  return down.width < across.width ? down : across;
}

function layOut(nodes: GraphNode[], edges: GraphEdge[], rankdir: 'LR' | 'TB'): LaidGraph {
  const isDown = rankdir === 'TB';
  const graph = new Layout({ multigraph: true });
  graph.setGraph({
    rankdir,
    nodesep: 16,
    ranksep: isDown ? 32 : 28,
    edgesep: 8,
    marginx: MARGIN,
    marginy: MARGIN,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, { width: widthOf(node), height: NODE_HEIGHT });
  const known = new Set(nodes.map(({ id }) => id));
  const drawn = edges.filter(({ from, to }) => known.has(from) && known.has(to));
  // Each edge needs its own name, because two edges may connect the same nodes.
  for (const [index, { from, to, label = '' }] of drawn.entries())
    graph.setEdge(
      from,
      to,
      label
        ? { width: wordWidth(label) + 8, height: wordLines(label).length * WORD_HEIGHT, labelpos: 'c' }
        : { width: 0, height: 1, labelpos: 'c' },
      `${index}`,
    );
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const spotOf = (id: string) => graph.node(id) as Spot;
  return {
    width: Math.max(1, width),
    height: Math.max(1, height),
    nodes: nodes.map((node) => ({ ...node, ...placeOf(spotOf(node.id)), width: widthOf(node) })),
    edges: drawn.map((edge, index) => {
      if (edge.from === edge.to)
        return { ...edge, ...loopOf(nodes.find(({ id }) => id === edge.from)!, spotOf(edge.from), edge, isDown) };
      const { points, x, y } = graph.edge(edge.from, edge.to, `${index}`) as { points: Spot[] } & Partial<Spot>;
      const at = x === undefined || y === undefined ? null : { x, y };
      const [from, to] = [spotOf(edge.from), spotOf(edge.to)];
      return { ...edge, points, at, isBack: isDown ? to.y <= from.y : to.x <= from.x };
    }),
  };
}

const placeOf = ({ x, y }: Spot): Spot => ({ x, y });

const LOOP = 20;

/** A loop on the side where the layout leaves room. */
function loopOf(node: GraphNode, { x, y }: Spot, { label = '' }: GraphEdge, isDown: boolean) {
  const far = isDown ? x + widthOf(node) / 2 : y + NODE_HEIGHT / 2;
  const around: Spot[] = [
    { x: far, y: -10 },
    { x: far + LOOP, y: -10 },
    { x: far + LOOP, y: 10 },
    { x: far, y: 10 },
  ];
  const points = around.map((spot) => (isDown ? { x: spot.x, y: y + spot.y } : { x: x + spot.y, y: spot.x }));
  const half = wordWidth(label) / 2;
  return { points, at: isDown ? { x: far + LOOP + 6 + half, y } : { x, y: far + LOOP + 8 }, isBack: true };
}

/** A path through the points with round corners. */
export function pathOf(points: Spot[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const parts = [`M${at(first)}`];
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (!next) parts.push(`L${at(point)}`);
    else {
      const before = index === 0 ? first : rest[index - 1]!;
      parts.push(`L${at(toward(point, before))}`, `Q${at(point)} ${at(toward(point, next))}`);
    }
  }
  return parts.join(' ');
}

const at = ({ x, y }: Spot) => `${x.toFixed(1)} ${y.toFixed(1)}`;

const ROUND = 12;

/** A point a short way from one point to another, at most half way. */
function toward(from: Spot, to: Spot): Spot {
  const far = Math.hypot(to.x - from.x, to.y - from.y);
  const part = far === 0 ? 0 : Math.min(0.5, ROUND / far);
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
