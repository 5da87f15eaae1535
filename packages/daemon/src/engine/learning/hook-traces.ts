import { type HookRefusal, personActor, type Trace, TraceDraft } from '@tidemill/contract';

const SHOWN_INPUT = 1_000;

/** The trace of something that a hook refused in a person's own session. The same refusal gives the same trace. */
export function hookTrace(refusal: HookRefusal, hash: (text: string) => string): Omit<Trace, 'noun' | 'projectId'> {
  const { at, session, guard, reason, call } = refusal;
  const tool = call?.tool ?? 'Stop';
  const input = call ? `\n${JSON.stringify(call.input).slice(0, SHOWN_INPUT)}` : '';
  const draft = TraceDraft.parse({
    ...{ type: 'violation', source: 'hook', key: `guard:${guard}:${tool}`, why: reason },
    what: `The guard ${guard} refused ${tool} in a person's own session.${input}`,
    files: fileOf(call?.input ?? {}),
  });
  const id = `trace_${at.toString(36).padStart(9, '0')}${hash(JSON.stringify(refusal)).slice(0, 12)}`;
  return { ...draft, id, at, seq: null, by: personActor(session ? `session ${session.slice(0, 8)}` : 'session') };
}

function fileOf({ file_path: file }: Record<string, unknown>): string[] {
  return typeof file === 'string' ? [file] : [];
}
