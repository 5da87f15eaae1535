/** What a turn of the tide is called. */
export const kinds = { high: 'high water', low: 'low water' };

/** The turns of a day: `{ at, kind, height }`, with `at` in minutes since midnight and `height` in metres. */
export function parseTable(text) {
  const lines = text.split('\n').slice(1, -1);
  return lines.map(parseTurn);
}

/** Minutes since midnight of a time such as 04:12. */
export function minutesOf(time) {
  const [hours, minutes] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function parseTurn(line) {
  const [time, kind, height] = line.split(',');
  return { at: minutesOf(time), kind, height: Number(height) };
}
