import { useQuery } from '@tanstack/react-query';
import { AccessRole, TokenName } from '@tidemill/contract';
import { useState } from 'react';
import { api, soon } from '../../api.ts';
import { Action, useAct, useMay } from '../../shell/action.tsx';
import { Command } from '../../shell/command.tsx';
import { timeOf } from '../../words.ts';
import { Part } from './part.tsx';

/** Tokens with a name and a role, for other people, programs and workers. */
export function Access() {
  const may = useMay('admin');
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
      {!may && <p className="dim">Only an admin sees and gives out tokens.</p>}
      <ul className="rows">
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

function NewToken() {
  const [name, setName] = useState('');
  const [role, setRole] = useState<AccessRole>('viewer');
  const [made, setMade] = useState('');
  const act = useAct();
  const check = TokenName.safeParse(name);
  const make = () =>
    act(async () => {
      const { token } = await api.addToken({ name, role });
      setMade(token);
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
          placeholder="Name"
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
        {name !== '' && !check.success && <span className="waiting">{check.error.issues[0]?.message}</span>}
      </form>
      {made && (
        <div className="banner">
          This is shown only now:
          <Command text={made} />
        </div>
      )}
    </>
  );
}
