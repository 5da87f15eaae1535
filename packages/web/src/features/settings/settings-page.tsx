import './settings.css';
import { useEffect } from 'react';
import { plainLine } from '../../plain.ts';
import { PageHead } from '../../shell/page-head.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { Access } from './access.tsx';
import { Agents } from './agents.tsx';
import { Channels } from './channels.tsx';
import { ConfigEditor } from './config-editor.tsx';
import { Pipelines } from './pipelines.tsx';
import { Preferences } from './preferences.tsx';
import { Routing } from './routing.tsx';
import { Tracker } from './tracker.tsx';

const PARTS: Record<string, string> = {
  config: 'Config',
  agents: 'Agents',
  channels: 'Channels',
  tracker: 'Tracker',
  pipelines: 'Pipelines',
  routing: 'Routing',
  learned: 'Learned answers',
  access: 'Access',
};

export default function SettingsPage() {
  const { project } = useShown();
  // The part in the address was not rendered yet when the browser looked for it.
  useEffect(() => {
    // Newer browsers return a promise, which React would call as a function when the page is left.
    void document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
  return (
    <>
      <PageHead title="Settings" about={`${plainLine(project.name)}, ${plainLine(project.root)}`} />
      <RoleNote needs="admin" what="Changing a setting" />
      <div className="settings-page">
        <nav className="parts" aria-label="Parts of the settings">
          {Object.entries(PARTS).map(([id, name]) => (
            <a key={id} href={`#${id}`}>
              {name}
            </a>
          ))}
        </nav>
        {/* The key resets all state when the project changes. */}
        <div key={project.id} className="settings">
          <ConfigEditor />
          <Agents />
          <Channels />
          <Tracker />
          <Pipelines />
          <Routing />
          <Preferences />
          <Access />
        </div>
      </div>
    </>
  );
}
