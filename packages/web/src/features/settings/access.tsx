import { useQuery } from '@tanstack/react-query';
import { AccessRole, TokenName } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { Action, useAct, useMay } from '../../shell/action.tsx';
import { Command } from '../../shell/command.tsx';
import { timeOf } from '../../words.ts';
import { Part } from './part.tsx';

const ROLES: Record<AccessRole, string> = {
  viewer: 'can read everything and change nothing',
  operator: 'can also manage work and answer questions',
  admin: 'can also change settings, limits and tokens',
  worker: 'can take work and deliver it',
  agent: 'can read, add and propose, and decides nothing',
};

/** Tokens with a name and a role, for other people, programs and workers. */
export function Access() {
  // Requested only if the role is known to allow it.
  const { data: self } = useQuery({
    queryKey: ['whoami'],
    queryFn: ({ signal }) => api.whoami({}, withTimeout(signal)),
  });
  const may = useMay('admin') && self !== undefined;
  const { data, error } = useQuery({
    queryKey: ['tokens'],
    queryFn: ({ signal }) => api.tokens({}, withTimeout(signal)),
    enabled: may,
  });
  return (
    <Part
      id="access"
      title="Access"
      about="Tokens for other people, programs and workers. Only their hashes are kept."
      error={error}
    >
      {self && !may && <p className="dim">Only an admin can see and create tokens.</p>}
      {data?.length === 0 && (
        <p className="dim">No tokens yet. Only people with the link on this machine have access.</p>
      )}
      <ul className="rows" aria-label="Tokens">
        {data?.map(({ name, role, createdAt, lastUsedAt }) => (
          <li key={name}>
            <span>
              <strong>{name}</strong> {role}{' '}
              <span className="dim">
                since {timeOf(createdAt)}, {lastUsedAt === null ? 'never used' : `last used ${timeOf(lastUsedAt)}`}
              </span>
            </span>
            <Action
              needs="admin"
              act={() => api.revokeToken({ name })}
              done={`Token of ${name} revoked`}
              label={`Revoke ${name}`}
              confirm={{
                title: `Revoke ${name}?`,
                text: 'It stops working at once. This cannot be undone, but you can create a new token.',
                yes: 'Revoke',
              }}
            >
              Revoke
            </Action>
          </li>
        ))}
      </ul>
      {may && <NewToken />}
    </Part>
  );
}

interface Made {
  name: string;
  role: AccessRole;
  token: string;
}

function NewToken() {
  const [name, setName] = useState('');
  const [role, setRole] = useState<AccessRole>('viewer');
  const [made, setMade] = useState<Made | null>(null);
  const act = useAct();
  const check = TokenName.safeParse(name);
  const make = () =>
    act(async () => {
      const { token } = await api.addToken({ name, role });
      setMade({ name, role, token });
      setName('');
    });
  return (
    <>
      <form
        className="row new-token"
        onSubmit={(event) => {
          event.preventDefault();
          if (check.success) void make();
        }}
      >
        <input
          aria-label="Name of the new token"
          aria-invalid={name !== '' && !check.success}
          aria-describedby="token-fault"
          placeholder="Name"
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <select
          aria-label="Role of the new token"
          value={role}
          onChange={(event) => setRole(event.target.value as AccessRole)}
        >
          {AccessRole.options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
        <button type="submit" disabled={!check.success}>
          Create token
        </button>
        <span className="dim">
          A {role} {ROLES[role]}.
        </span>
      </form>
      <p id="token-fault" role="status" className={name !== '' && !check.success ? 'waiting' : undefined}>
        {name !== '' && check.error?.issues[0]?.message}
      </p>
      {made && <Shown made={made} onDone={() => setMade(null)} />}
    </>
  );
}

function Shown({ made: { name, role, token }, onDone }: { made: Made; onDone: () => void }) {
  return (
    <div className="banner made" role="status">
      <p>The token of {name} is shown only once. Copy it now:</p>
      <Command text={token} />
      {role !== 'worker' && (
        <>
          <p>Or use this link to the page:</p>
          <Command text={`${location.origin}/?token=${token}`} />
        </>
      )}
      <button type="button" onClick={onDone}>
        Hide token
      </button>
    </div>
  );
}
