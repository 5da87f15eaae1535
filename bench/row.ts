/** What a figure must reach: itself, or its ratio to the peer. */
export type Target = { atMost: number } | { atLeast: number } | { ratioAtMost: number } | { ratioAtLeast: number };

/** One figure of the bench, with what it is compared to in the same run. `ratio` is always ours over the peer's. */
export interface Row {
  name: string;
  value: number;
  unit: string;
  peer?: string;
  peerValue?: number;
  ratio?: number;
  target?: string;
  met?: boolean;
}

export interface Section {
  name: string;
  title: string;
  rows: Row[];
  /** What a reader must know to judge the figures. */
  notes: string[];
}

export interface Figure {
  name: string;
  value: number;
  unit: string;
  peer?: { name: string; value: number };
  target?: Target;
}

export function row({ name, value, unit, peer, target }: Figure): Row {
  const ratio = peer ? value / peer.value : undefined;
  const compared = peer ? { peer: peer.name, peerValue: round(peer.value), ratio: round(ratio!) } : {};
  const judged = target ? { target: targetText(target, unit), met: isMet(target, value, ratio) } : {};
  return { name, value: round(value), unit, ...compared, ...judged };
}

function isMet(target: Target, value: number, ratio: number | undefined): boolean {
  if ('atMost' in target) return value <= target.atMost;
  if ('atLeast' in target) return value >= target.atLeast;
  if (ratio === undefined) throw new Error('a target of a ratio needs a peer');
  return 'ratioAtMost' in target ? ratio <= target.ratioAtMost : ratio >= target.ratioAtLeast;
}

function targetText(target: Target, unit: string): string {
  if ('atMost' in target) return `≤ ${target.atMost} ${unit}`;
  if ('atLeast' in target) return `≥ ${target.atLeast} ${unit}`;
  return 'ratioAtMost' in target ? `≤ ${target.ratioAtMost} × the peer` : `≥ ${target.ratioAtLeast} × the peer`;
}

/** Three significant digits, all of them before the point. */
function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

const WIDTH = 80;

/** A section as a table of 80 columns: ours, the peer's, the ratio, and below it what was to be reached. */
export function table({ title, rows, notes }: Section): string {
  const lines = [`── ${title} ${'─'.repeat(Math.max(0, WIDTH - 4 - title.length))}`];
  lines.push(columns('', 'Tidemill', 'peer', 'ratio'));
  for (const each of rows) {
    const { name, value, unit, peer, peerValue, ratio, target, met } = each;
    const ratioText = ratio === undefined ? '' : `${number(ratio)}×`;
    lines.push(columns(name, `${number(value)} ${unit}`, peer ? `${number(peerValue!)} ${unit}` : '', ratioText));
    if (peer) lines.push(`    against ${peer}`);
    if (target) lines.push(`    target ${target} … ${met ? 'met' : 'MISSED'}`);
  }
  return [...lines, ...notes.flatMap((note) => wrapped(note))].join('\n');
}

function columns(name: string, ours: string, peer: string, ratio: string): string {
  const rest = `${ours.padStart(14)}${peer.padStart(14)}${ratio.padStart(9)}`;
  const room = WIDTH - rest.length - 2;
  return name.length <= room ? `  ${name.padEnd(room)}${rest}` : `  ${name}\n  ${' '.repeat(room)}${rest}`;
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = '  ·';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = '   ';
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

function number(value: number): string {
  return value.toLocaleString('en', {
    maximumSignificantDigits: 3,
    ...(value >= 100 && { maximumFractionDigits: 0, maximumSignificantDigits: undefined }),
  });
}
