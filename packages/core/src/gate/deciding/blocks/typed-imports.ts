import { importOf } from './imports.ts';
import { itemsIn, type TestSource } from './items.ts';
import { shapeOf } from './shape.ts';
import { bodyOf } from './used.ts';

/**
 * What a Python file imports below `if TYPE_CHECKING:` and nowhere else. While its tests run these names have no meaning, so
 * that the same import for everybody hides nothing.
 */
export function typedImports(source: TestSource): Set<string> {
  const typed = new Set<string>();
  if (source.language.lines !== 'indent') return typed;
  const { tokens, partner } = source;
  if (tokens.some(({ text }, at) => text === '*' && tokens[at - 1]?.text === 'import')) return typed;
  for (const item of itemsIn(source, 0, tokens.length)) {
    const words = tokens.slice(item.from, item.from + 3).map(({ text }) => text);
    const body = words.join(' ') === 'if TYPE_CHECKING :' ? bodyOf(source, item) : -1;
    // An `else` has the other meaning.
    if (body < 0 || tokens.slice(item.from, item.to).some(({ text }) => text === 'else' || text === 'elif')) continue;
    for (const inner of itemsIn(source, body + 1, partner[body]!)) {
      if (shapeOf(source, inner).kind !== 'import') continue;
      const { from, parts, names } = importOf(source, inner);
      for (const [at, part] of parts.entries()) if (isOnce(source, names[at]!)) typed.add(`${from} import ${part}`);
    }
  }
  return typed;
}

/** Nothing else in the file gives the name a meaning. */
function isOnce({ tokens }: TestSource, name: string): boolean {
  const given = tokens.filter(({ kind, text, isFirst }, at) => {
    if (kind !== 'word' || text !== name) return false;
    const [previous, next] = [tokens[at - 1]?.text ?? '', tokens[at + 1]?.text ?? ''];
    return isFirst || /^(import|as|def|class|for|global|nonlocal|,|\()$/.test(previous) || /^(=|:=)$/.test(next);
  });
  return given.length <= 1;
}
