import type { Assignment, Command, Redirection, TestCommand, TestExpression } from 'unbash';
import { type Part, wordParts } from './shell-words.ts';

/** A simple command before expansion. */
export interface PlainCommand {
  words: Part[][];
  /** Assignments before the command, or without a command. */
  assignments: readonly Assignment[];
  /** `declare -a x=(a b)`: lists that the command sets. */
  lists: readonly Assignment[];
  redirects: readonly Redirection[];
}

export const NOTHING: PlainCommand = { words: [], assignments: [], lists: [], redirects: [] };

export function plainCommand({ name, prefix, args, redirects }: Command): PlainCommand {
  const given = args.map((arg) => (arg.type === 'Assignment' ? assignmentWord(arg) : wordParts(arg)));
  return {
    words: name ? [wordParts(name), ...given] : given,
    assignments: prefix.filter((part) => part.type === 'Assignment'),
    lists: args.filter((arg) => arg.type === 'Assignment').filter(({ value }) => value.type === 'ArrayValue'),
    redirects,
  };
}

const text = (of: string): Part => ({ kind: 'text', text: of, quoted: false });

function assignmentWord({ name, append, value }: Assignment): Part[] {
  return [text(`${name}${append ? '+' : ''}=`), ...(value.type === 'Word' ? wordParts(value) : [])];
}

/** `[[ -f a && b == c ]]` as the words of a command. */
export const testWords = ({ expression }: TestCommand): Part[][] => [[text('[[')], ...operands(expression)];

function operands(expression: TestExpression): Part[][] {
  switch (expression.type) {
    case 'TestUnary':
      return [[text(expression.operator)], wordParts(expression.operand)];
    case 'TestBinary':
      return [wordParts(expression.left), [text(expression.operator)], wordParts(expression.right)];
    case 'TestLogical':
      return expression.operands.flatMap(operands);
    case 'TestNot':
      return operands(expression.operand);
    case 'TestGroup':
      return operands(expression.expression);
  }
}
