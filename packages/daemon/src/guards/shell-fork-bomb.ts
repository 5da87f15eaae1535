import type { CommandNode } from 'unbash';

type FunctionNode = Extract<CommandNode, { type: 'Function' }>;

/**
 * Whether a function starts itself in the background, or twice in a pipe: `:(){ :|:& };:`. Each copy starts others without waiting,
 * until the machine has no process left. A function that calls itself and waits is ordinary recursion.
 */
export function isForkBomb({ name, body }: FunctionNode): boolean {
  const isCall = (node: object) =>
    isNode(node, 'Command') && (node as { name?: { value: string } }).name?.value === name.value;
  const callsIn = (node: object) => nodesIn(node).filter(isCall).length;
  return nodesIn(body).some(
    (node) =>
      (isNode(node, 'Statement') && (node as { background?: boolean }).background === true && callsIn(node) > 0) ||
      (isNode(node, 'Pipeline') && callsIn(node) > 1),
  );
}

const isNode = (node: object, type: string) => 'type' in node && node.type === type;

function nodesIn(node: object): object[] {
  const below = Object.values(node).filter((each): each is object => typeof each === 'object' && each !== null);
  return [node, ...below.flatMap(nodesIn)];
}
