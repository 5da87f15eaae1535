const HEAD = 512;
const NEWLINE = 0x0a;

export interface LineReader {
  /** Returns the beginning of a line that is too long. That line is dropped. */
  push(chunk: Buffer): string | null;
}

/** Puts a child's output together to lines. A longer line than `longest` bytes is not kept in memory. */
export function createLines(longest: number, take: (line: string) => void): LineReader {
  let pieces: Buffer[] = [];
  let length = 0;
  let isTooLong = false;
  const keep = (piece: Buffer): string | null => {
    if (isTooLong) return null;
    pieces.push(piece);
    length += piece.length;
    if (length <= longest) return null;
    const head = Buffer.concat(pieces).subarray(0, HEAD).toString('utf8');
    pieces = [];
    isTooLong = true;
    return head;
  };
  const finish = () => {
    if (!isTooLong) take(Buffer.concat(pieces).toString('utf8'));
    pieces = [];
    length = 0;
    isTooLong = false;
  };
  return {
    push(chunk) {
      let lost: string | null = null;
      for (let from = 0; from < chunk.length; ) {
        const newline = chunk.indexOf(NEWLINE, from);
        lost = keep(chunk.subarray(from, newline === -1 ? chunk.length : newline)) ?? lost;
        if (newline === -1) break;
        finish();
        from = newline + 1;
      }
      return lost;
    },
  };
}
