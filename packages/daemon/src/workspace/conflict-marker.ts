/**
 * Finds the conflicts in a text, each with its markers: `<<<<<<< …`, `=======`, `>>>>>>> …`, all of the same length (an
 * attribute can make them longer). A line of equals signs alone is a heading, not a conflict.
 */
function markerBlocks(text: string): string[] {
  const blocks: string[] = [];
  let open: { at: number; length: number; hasMiddle: boolean } | null = null;
  let at = 0;
  for (const line of text.split('\n')) {
    const bare = line.endsWith('\r') ? line.slice(0, -1) : line;
    const [, run = ''] = /^(<{7,}|={7,}|>{7,})(?: |$)/.exec(bare) ?? [];
    if (run.startsWith('<')) open = { at, length: run.length, hasMiddle: false };
    else if (open && run.length === open.length) {
      if (bare === run && run.startsWith('=')) open.hasMiddle = true;
      else if (run.startsWith('>') && open.hasMiddle) {
        blocks.push(text.slice(open.at, at + line.length));
        open = null;
      }
    }
    at += line.length + 1;
  }
  return blocks;
}

/** Markers that are in neither side: a conflict in a test's sample data does not count. */
export const hasOwnMarkers = (text: string, sides: (string | null)[]): boolean =>
  markerBlocks(text).some((block) => !sides.some((side) => side?.includes(block)));
