import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, soon } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { errorText } from '../../shell/notices.tsx';
import { useShown } from '../../shell/project.tsx';
import { elapsed, useNow } from '../../time.ts';
import { plural, timeOf } from '../../words.ts';
import { Part } from './part.tsx';

type ChannelState = Awaited<ReturnType<typeof api.channels>>[number];

export function Channels() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['channels', project.id],
    queryFn: ({ signal }) => api.channels({ project: project.id }, soon(signal)),
  });
  return (
    <Part id="channels" title="Channels" about="Where you are told what needs you, and can answer." error={error}>
      {data?.length === 0 && (
        <p className="dim">
          None yet. Add one under <code>channels</code> in the config above.
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
      setResult({ isOk: true, text: `The test of ${timeOf(Date.now())} arrived` });
    } catch (error) {
      setResult({ isOk: false, text: `The test failed: ${errorText(error)}` });
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
        {answers ? 'Takes answers' : 'Takes no answers'}
        {pending > 0 && `, ${plural(pending, 'message')} waiting`}
      </p>
      <Action act={test} done={`A test message went to ${name}`} label={`Send a test to ${name}`}>
        Send a test
      </Action>
      <p role="status" className={result ? (result.isOk ? 'working' : 'crashed') : undefined}>
        {result?.text}
      </p>
    </li>
  );
}
