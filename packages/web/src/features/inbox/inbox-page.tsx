import './inbox.css';
import { useQuery } from '@tanstack/react-query';
import type { InboxItem, QuestionView } from '@tidemill/contract';
import { useAddress } from '../../address.ts';
import { api, soon } from '../../api.ts';
import { plain, plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { useKeys } from '../../shell/keys.ts';
import { errorText } from '../../shell/notices.tsx';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { useShown } from '../../shell/project.tsx';
import { plural } from '../../words.ts';
import { Item } from './item.tsx';

const KINDS = ['question', 'approval', 'escalation', 'alert'] as const;
/** Beyond this a list is no longer read; the most pressing come first. */
const SHOWN = 100;

export default function InboxPage() {
  const { project } = useShown();
  const [kind, setKind] = useAddress('kind');
  const inbox = useQuery({
    queryKey: ['inbox', project.id],
    queryFn: ({ signal }) => api.inbox({ project: project.id }, soon(signal)),
  });
  const questions = useQuery({
    queryKey: ['questions', project.id],
    queryFn: ({ signal }) => api.questions({ project: project.id }, soon(signal)),
  });
  useItemKeys();
  const items = inbox.data ?? [];
  const shown = items.filter((item) => !kind || item.kind === kind);
  const byRef = new Map(questions.data?.map((question) => [question.ref || question.id, question]));
  return (
    <>
      <PageHead title="Inbox" about={items.length > 0 ? <KeyHints /> : undefined}>
        <Defaults questions={questions.data ?? []} />
        <Action
          act={() => api.acknowledge({ project: project.id, by: 'page' })}
          done="All alerts are acknowledged"
          disabled={!items.some((item) => item.kind === 'alert')}
        >
          Acknowledge all alerts
        </Action>
      </PageHead>
      <Kinds items={items} chosen={kind} choose={setKind} />
      {inbox.error && <p className="waiting">{errorText(inbox.error)}</p>}
      {inbox.isPending && <p className="dim">Reading…</p>}
      {inbox.data && shown.length === 0 && (
        <Empty>
          <p>{kind ? `No ${kind} right now.` : 'Nothing needs you. The mill goes on by itself.'}</p>
        </Empty>
      )}
      <ol className="inbox">
        {shown.slice(0, SHOWN).map((item) => (
          <Item key={item.ref} item={item} question={byRef.get(item.ref)} />
        ))}
      </ol>
      {shown.length > SHOWN && (
        <p className="dim">
          The {SHOWN} most pressing of {plural(shown.length, 'thing')}.
        </p>
      )}
    </>
  );
}

/** Whoever sees the keys once needs no mouse for the rest. */
const KeyHints = () => (
  <span className="hints">
    <kbd>j</kbd> <kbd>k</kbd> move, <kbd>1</kbd>–<kbd>9</kbd> an option, <kbd>.</kbd> the default, <kbd>a</kbd> in
    words, <kbd>y</kbd> yes
  </span>
);

function Kinds({ items, chosen, choose }: { items: InboxItem[]; chosen: string; choose: (kind: string) => void }) {
  return (
    <fieldset className="kinds">
      <legend className="unseen">Show</legend>
      {['', ...KINDS].map((kind) => {
        const count = kind ? items.filter((item) => item.kind === kind).length : items.length;
        return (
          <button
            key={kind}
            type="button"
            className="quiet"
            aria-pressed={chosen === kind}
            onClick={() => choose(kind)}
          >
            {kind ? `${kind}s` : 'all'} <span className="dim">{count}</span>
          </button>
        );
      })}
    </fieldset>
  );
}

function Defaults({ questions }: { questions: QuestionView[] }) {
  const { project } = useShown();
  const ready = questions.filter(({ defaultAnswer }) => defaultAnswer !== null);
  return (
    <Action
      act={() => api.answerDefaults({ project: project.id, by: 'page' })}
      done={`${plural(ready.length, 'question')} answered`}
      disabled={ready.length === 0}
      confirm={{
        title: `Answer ${plural(ready.length, 'question')} with the default?`,
        text: (
          <ul>
            {ready.map(({ id, ref, text, defaultAnswer }) => (
              <li key={id}>
                {ref} {plain(text)} <strong>{plainLine(defaultAnswer ?? '')}</strong>
              </li>
            ))}
          </ul>
        ),
        yes: 'Answer them',
        isHarmless: true,
      }}
    >
      Answer all with defaults
    </Action>
  );
}

/** The keys act on the item that has the focus, else on the first. */
function useItemKeys(): void {
  const current = () =>
    document.activeElement?.closest<HTMLElement>('.inbox > li') ?? document.querySelector<HTMLElement>('.inbox > li');
  const press = (selector: string) => () => current()?.querySelector<HTMLElement>(selector)?.click();
  useKeys([
    { keys: 'a', does: 'Answer in words', run: () => current()?.querySelector<HTMLElement>('textarea')?.focus() },
    { keys: '.', does: 'Take the default answer', run: press('[data-key~="default"]') },
    { keys: 'y', does: 'Approve, or acknowledge', run: press('[data-key~="yes"]') },
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => ({
      keys: String(number),
      does: number === 1 ? 'Take this option (1 to 9)' : `Option ${number}`,
      run: press(`[data-key~="${number}"]`),
    })),
  ]);
}
