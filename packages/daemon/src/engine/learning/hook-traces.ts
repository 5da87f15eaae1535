import { type HookRefusal, personActor, type Trace, TraceDraft } from '@tidemill/contract';
import { fingerprintOf } from '@tidemill/core';

const SHOWN_INPUT = 1_000;

/** The trace of a refusal or a correction in a person's own session. The same one gives the same trace. */
export function hookTrace(refusal: HookRefusal, hash: (text: string) => string): Omit<Trace, 'noun' | 'projectId'> {
  const { at, session, guard, reason, call } = refusal;
  const tool = call?.tool ?? 'Stop';
  const id = `trace_${at.toString(36).padStart(9, '0')}${hash(JSON.stringify(refusal)).slice(0, 12)}`;
  const by = personActor(session ? `session ${session.slice(0, 8)}` : 'session');
  if (refusal.kind === 'corrected') {
    const key = `person:correction:${fingerprintOf('correction', reason, hash)}`;
    const said = TraceDraft.parse({ type: 'correction', source: 'person', key, what: reason });
    return { ...said, id, at, seq: null, by };
  }
  const input = call ? `\n${JSON.stringify(call.input).slice(0, SHOWN_INPUT)}` : '';
  const draft = TraceDraft.parse({
    ...{ type: 'violation', source: 'hook', key: `guard:${guard}:${tool}`, why: reason },
    what: `The guard ${guard} refused ${tool} in a person's own session.${input}`,
    files: fileOf(call?.input ?? {}),
  });
  return { ...draft, id, at, seq: null, by };
}

function fileOf({ file_path: file }: Record<string, unknown>): string[] {
  return typeof file === 'string' ? [file] : [];
}
