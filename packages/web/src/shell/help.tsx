import { Dialog } from './dialog.tsx';
import { useKnownKeys } from './keys.ts';

export function Help({ onClose }: { onClose: () => void }) {
  const keys = useKnownKeys();
  // If a key is registered twice, only the newest counts.
  const shown = keys.filter(
    (key, index) => key.does !== '' && keys.findLastIndex((other) => other.keys === key.keys) === index,
  );
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="keys">
        {shown.map(({ keys: names, does }) => (
          <div key={names}>
            <dt>
              {names.split(' ').map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>Enter</kbd>
          </dt>
          <dd>Open the item</dd>
        </div>
      </dl>
    </Dialog>
  );
}
