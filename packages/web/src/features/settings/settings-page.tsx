import './settings.css';
import { PageHead } from '../../shell/page-head.tsx';
import { useShown } from '../../shell/project.tsx';
import { Access } from './access.tsx';
import { Agents } from './agents.tsx';
import { Channels } from './channels.tsx';
import { ConfigEditor } from './config-editor.tsx';
import { Pipelines } from './pipelines.tsx';
import { Preferences } from './preferences.tsx';

const PARTS = ['config', 'agents', 'channels', 'pipelines', 'learned', 'access'];

export default function SettingsPage() {
  const { project } = useShown();
  return (
    <>
      <PageHead title="Settings" about={`${project.name}, ${project.root}`} />
      <nav className="parts" aria-label="Parts of the settings">
        {PARTS.map((part) => (
          <a key={part} href={`#${part}`}>
            {part}
          </a>
        ))}
      </nav>
      <div className="settings">
        <ConfigEditor />
        <Agents />
        <Channels />
        <Pipelines />
        <Preferences />
        <Access />
      </div>
    </>
  );
}
