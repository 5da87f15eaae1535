import type { ProjectStatus } from '@tidemill/contract';

/** What an agent can and cannot touch, in plain words, before anybody has to ask. */
export function Reach({ status: { sandbox, gates, project } }: { status: ProjectStatus }) {
  return (
    <section className="reach" aria-labelledby="reach">
      <h2 id="reach">What an agent can touch</h2>
      <ul>
        {sandbox.active ? (
          <>
            <li>
              It writes in its task's own worktree. The rest of the machine is read-only, your home folder hidden.
            </li>
            <li>Gates run in the same cage, without a network unless one asks for it.</li>
          </>
        ) : (
          <li className="waiting">
            No sandbox: {sandbox.text}. Agents run with your own rights; guards and diff checks remain.
          </li>
        )}
        <li>
          It never moves {project.target}. Only the mill lands a change, after {gates.join(', ')} passed on it.
        </li>
        <li>Before anything is thrown away, it is kept in a snapshot.</li>
      </ul>
    </section>
  );
}
