import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { elapsed, useNow } from '../../time.ts';
import { plural, timeOf } from '../../words.ts';
import { Part } from './part.tsx';

type ChannelState = Awaited<ReturnType<typeof api.channels>>[number];

export function Channels() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['channels', project.id],
    queryFn: ({ signal }) => api.channels({ project: project.id }, withTimeout(signal)),
  });
  return (
    <Part
      id="channels"
      title="Channels"
      about="Where Tidemill notifies you. Some channels accept answers."
      error={error}
    >
      {data?.length === 0 && (
        <p className="dim">
          No channels yet. Add one under <code>channels</code> in the config above.
        </p>
      )}
      <ul className="tiles">
        {data?.map((channel) => (
          <Channel key={channel.name} channel={channel} />
        ))}
      </ul>
    </Part>
  );
}

function Channel({ channel }: { channel: ChannelState }) {
  const { name, type, target, answers, pending, lastDeliveredAt, lastError } = channel;
  const { project } = useShown();
  const now = useNow();
  const [result, setResult] = useState<{ isOk: boolean; text: string } | null>(null);
  const test = async () => {
    setResult(null);
    try {
      await api.testChannel({ project: project.id, channel: name });
      setResult({ isOk: true, text: `Test sent at ${timeOf(Date.now())}` });
    } catch (error) {
      setResult({ isOk: false, text: `Test failed: ${errorText(error)}` });
      throw error;
    }
  };
  return (
    <li className="card">
      <h4>
        {name} <span className="dim">{type}</span>
      </h4>
      <p className="dim">{plainLine(target)}</p>
      <p className={lastError ? 'crashed' : lastDeliveredAt === null ? 'idle' : 'working'}>
        {lastError !== null
          ? plainLine(lastError)
          : lastDeliveredAt === null
            ? 'nothing sent yet'
            : `last delivered ${elapsed(now - lastDeliveredAt)} ago`}
      </p>
      <p className="dim">
        {answers ? 'Accepts answers' : 'Send only'}
        {pending > 0 && `, ${plural(pending, 'message')} waiting`}
      </p>
      <Action act={test} done={`Test message sent to ${name}`} label={`Send test to ${name}`}>
        Send test
      </Action>
      <p role="status" className={result ? (result.isOk ? 'working' : 'crashed') : undefined}>
        {result?.text}
      </p>
    </li>
  );
}
