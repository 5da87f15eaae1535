import { type Command, forEachChild, type SyntaxNode, type Word } from 'unbash';

/**
 * Why a command cannot be parsed; null if it can. unbash continues after a mistake and reports most mistakes. This file
 * also finds those that it does not report, and what other shells read differently.
 */
export function mistakeIn(node: SyntaxNode, source: string): string | null {
  const own = ownMistake(node, source);
  if (own !== null) return own;
  // Code in backticks has its own text.
  const inner = node.type === 'Script' ? (node.source ?? source) : source;
  let found: string | null = null;
  forEachChild(node, (child) => {
    found ??= mistakeIn(child, inner);
  });
  return found;
}

function ownMistake(node: SyntaxNode, source: string): string | null {
  switch (node.type) {
    case 'Script':
      return node.errors?.[0]?.message ?? null;
    case 'Command':
      return strayText(node, source);
    case 'HereDoc':
      return node.closing ? null : 'a here-document is not closed';
    case 'CommandExpansion':
      return /[)`}]$/.test(node.text) && node.script ? null : 'a substitution is not closed';
    case 'ProcessSubstitution':
      return node.text.endsWith(')') && node.script ? null : 'a substitution is not closed';
    case 'ParameterExpansion': {
      const { operation, parameter, text } = node;
      // `${x@P}` runs the commands that are named in x. zsh knows more operators than bash.
      const isKnown = operation?.type !== 'Unknown' && operation?.type !== 'Transform';
      return isKnown && /^(\w+|[@*#?$!-])$/.test(parameter) && text.endsWith('}') ? null : `${text} is not understood`;
    }
    default:
      return null;
  }
}

/** Between and in the words of a command there are no brackets: unbash leaves out some that are not closed. */
function strayText({ prefix, name, suffix }: Command, source: string): string | null {
  const pieces = [...prefix, ...(name ? [name] : []), ...suffix].sort((a, b) => a.pos - b.pos);
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1];
    const gap = before ? source.slice(before.end, piece.pos) : '';
    if (!/^(\s|\\\n)*$/.test(gap)) return `unexpected ${gap.trim()}`;
    const word = piece.type === 'Redirect' ? piece.target : piece;
    if (word?.type === 'Word' && hasBracket(word)) return `unexpected bracket in ${word.text}`;
  }
  return null;
}

function hasBracket({ parts, text }: Word): boolean {
  const texts = parts ? parts.flatMap((part) => (part.type === 'Literal' ? part.text : [])) : [text];
  return texts.some((each) => /[()]/.test(each.replace(/\\[\s\S]/g, '')));
}
