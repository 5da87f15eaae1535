import { useQuery } from '@tanstack/react-query';
import { AccessRole, TokenName } from '@tidemill/contract';
import { useState } from 'react';
import { api, soon } from '../../api.ts';
import { Action, useAct, useMay } from '../../shell/action.tsx';
import { Command } from '../../shell/command.tsx';
import { timeOf } from '../../words.ts';
import { Part } from './part.tsx';

const ROLES: Record<AccessRole, string> = {
  viewer: 'looks at everything and changes nothing',
  operator: 'also steers work and answers',
  admin: 'also changes settings, limits and tokens',
  worker: 'takes work and hands it in',
};

/** Tokens with a name and a role, for other people, programs and workers. */
export function Access() {
  // Asked for only once it is known that they are given: a refusal would say nothing.
  const { data: self } = useQuery({ queryKey: ['whoami'], queryFn: ({ signal }) => api.whoami({}, soon(signal)) });
  const may = useMay('admin') && self !== undefined;
  const { data, error } = useQuery({
    queryKey: ['tokens'],
    queryFn: ({ signal }) => api.tokens({}, soon(signal)),
    enabled: may,
  });
  return (
    <Part
      id="access"
      title="Access"
      about="Tokens for other people, programs and workers. Only their hashes are kept."
      error={error}
    >
      {self && !may && <p className="dim">Only an admin sees and gives out tokens.</p>}
      {data?.length === 0 && <p className="dim">None yet: only who reads the link on this machine gets in.</p>}
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
              done={`${name} no longer opens anything`}
              label={`Revoke ${name}`}
              confirm={{
                title: `Revoke ${name}?`,
                text: 'Whoever uses it is shut out at once. It cannot be brought back; a new one can be made.',
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
          aria-label="Name of a new token"
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
          Make a token
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
      <p>The token of {name} is shown only now. Give it to whom it is for:</p>
      <Command text={token} />
      {role !== 'worker' && (
        <>
          <p>Or as a link to this page:</p>
          <Command text={`${location.origin}/?token=${token}`} />
        </>
      )}
      <button type="button" onClick={onDone}>
        I have it, hide it
      </button>
    </div>
  );
}
