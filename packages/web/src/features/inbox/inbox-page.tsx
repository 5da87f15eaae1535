import './inbox.css';
import { useQuery } from '@tanstack/react-query';
import type { InboxItem, QuestionView } from '@tidemill/contract';
import { useEffect, useState } from 'react';
import { useAddress } from '../../address.ts';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { Failed } from '../../shell/failed.tsx';
import { useKeys } from '../../shell/keys.ts';
import { MarkdownLine } from '../../shell/markdown.tsx';
import { Empty, PageHead } from '../../shell/page-head.tsx';
import { useProject, useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { plural } from '../../words.ts';
import { Item } from './item.tsx';

const KINDS = ['question', 'approval', 'escalation', 'alert'] as const;
/** Items shown at first, the most urgent ones; the person can show more. */
const STEP = 50;
/** The daemon returns at most this many. */
const MOST = 500;

export default function InboxPage() {
  const { project, status } = useShown();
  const [kind, setKind] = useAddress('kind');
  const [most, setMost] = useState(STEP);
  const inbox = useQuery({
    queryKey: ['inbox', project.id],
    // The questions are read after the items: an item without its options would ignore the keys that choose one.
    queryFn: async ({ signal }) => ({
      items: await api.inbox({ project: project.id }, withTimeout(signal)),
      questions: await api.questions({ project: project.id }, withTimeout(signal)),
    }),
  });
  const { items, questions } = inbox.data ?? { items: [], questions: [] };
  const byRef = new Map(questions.map((question) => [question.ref || question.id, question]));
  const shown = items.filter((item) => !kind || item.kind === kind);
  useItemKeys();
  useFirstFocused(shown.length > 0);
  return (
    <>
      <PageHead title="Inbox" about={items.length > 0 ? <KeyHints /> : undefined}>
        <Defaults questions={questions} />
        <Action
          act={() => api.acknowledge({ project: project.id, by: 'page' })}
          done="All alerts acknowledged"
          disabled={status.alerts.length === 0}
        >
          Acknowledge all alerts
        </Action>
      </PageHead>
      <RoleNote what="Answering" />
      {inbox.data && <Kinds items={items} chosen={kind} choose={setKind} />}
      <Failed error={inbox.error} />
      {inbox.isPending && <p className="dim">Loading…</p>}
      {inbox.data && shown.length === 0 && (
        <Empty>
          <p>{kind ? `No ${kind} right now.` : "You're all caught up."}</p>
        </Empty>
      )}
      {inbox.data && status.inbox > items.length && items.length >= MOST && (
        <p className="waiting">
          Showing the {MOST} most urgent of {status.inbox.toLocaleString('en-US')}. The others follow when these are
          done.
        </p>
      )}
      <ol className="inbox">
        {shown.slice(0, most).map((item) => (
          <Item key={item.ref} item={item} question={byRef.get(item.ref)} />
        ))}
      </ol>
      {shown.length > most && (
        <p className="row more">
          <span className="dim">
            The {most} most urgent of {plural(shown.length, 'item')}.
          </span>
          <button type="button" onClick={() => setMost(most + STEP)}>
            Show {Math.min(STEP, shown.length - most)} more
          </button>
        </p>
      )}
    </>
  );
}

const KeyHints = () => (
  <span className="hints">
    <kbd>j</kbd> <kbd>k</kbd> move, <kbd>1</kbd>–<kbd>9</kbd> choose an option, <kbd>.</kbd> default, <kbd>a</kbd> write
    an answer, <kbd>y</kbd> approve
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
  const project = useProject();
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
                {ref} <MarkdownLine text={text} /> <strong>{plainLine(defaultAnswer ?? '')}</strong>
              </li>
            ))}
          </ul>
        ),
        yes: 'Answer all',
        isHarmless: true,
      }}
    >
      Answer all with defaults
    </Action>
  );
}

const ITEMS = '.inbox > li';

/** Focuses the first item when the inbox opens, because keys act on the focused item. */
function useFirstFocused(isRead: boolean): void {
  useEffect(() => {
    const at = document.activeElement;
    if (isRead && (at === document.body || at?.id === 'content'))
      document.querySelector<HTMLElement>(ITEMS)?.focus({ preventScroll: true });
  }, [isRead]);
}

/** Keys act on the focused item. Without one, they focus the first item. */
function useItemKeys(): void {
  const onItem = (act: (item: HTMLElement) => void) => () => {
    const item = document.activeElement?.closest<HTMLElement>(ITEMS);
    if (item) act(item);
    else document.querySelector<HTMLElement>(ITEMS)?.focus();
  };
  const press = (name: string) =>
    onItem((item) => item.querySelector<HTMLElement>(`[data-key~="${name}"]:not(:disabled)`)?.click());
  useKeys([
    { keys: 'a', does: 'Write an answer', run: onItem((item) => item.querySelector('textarea')?.focus()) },
    { keys: '.', does: 'Choose the default answer', run: press('default') },
    { keys: 'y', does: 'Approve or acknowledge', run: press('yes') },
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => ({
      keys: String(number),
      does: number === 1 ? 'Choose an option (1 to 9)' : '',
      run: press(String(number)),
    })),
  ]);
}
