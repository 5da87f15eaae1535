import type { ProjectStatus } from '@tidemill/contract';

/** What an agent can and cannot access. */
export function Reach({ status: { sandbox, gates, project } }: { status: ProjectStatus }) {
  return (
    <section className="reach" aria-labelledby="reach">
      <h2 id="reach">What an agent can access</h2>
      <ul>
        {sandbox.active ? (
          <>
            <li>
              It can write only to its task's worktree. The rest of the machine is read-only, and your home folder is
              hidden.
            </li>
            <li>Gates run in the same sandbox, without a network unless a gate asks for it.</li>
          </>
        ) : (
          <li className="waiting">
            No sandbox: {sandbox.text}. Agents run with your permissions; guards and diff checks remain.
          </li>
        )}
        <li>
          It never changes {project.target}. Only Tidemill lands a change, after {gates.join(', ')} passed.
        </li>
        <li>Work is saved in a snapshot before it is removed.</li>
      </ul>
    </section>
  );
}
