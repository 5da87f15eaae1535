import type { TemporaryRepository } from '../../e2e/cli-repository.ts';
import type { TidemillHome } from '../tidemill-home.ts';

/** Prints until the file `go` is next to its repository, then creates its file. */
const PATIENT_AGENT = `n=$(grep -o '"number":[0-9]*' | head -1 | tr -dc 0-9)
i=0
while [ ! -e "$GO" ]; do i=$((i+1)); echo "line $i of much output"; sleep 0.05; done
echo made > "made-$n.txt"
echo '{"tidemill":"result","outcome":"pr_ready","summary":"made it"}'
`;
export const patientConfig = (go: string) => `target: main
pipeline: quick
sandbox: off
agents:
  default: { type: command, command: ["sh", "-c", ${JSON.stringify(PATIENT_AGENT)}], env: { GO: ${JSON.stringify(go)} } }
gates:
  - { name: test, run: "echo fine; sleep 1; echo still fine" }
`;

/** How often an alert of this kind was raised. */
export async function raisedIn(machine: TidemillHome, { root }: TemporaryRepository, kind: string): Promise<number> {
  const raised = await machine.events(root, ['alert.raised']);
  return raised.filter(({ body }) => body.type === 'alert.raised' && body.kind === kind).length;
}
