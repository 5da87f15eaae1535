import { PageHead } from '../../shell/page-head.tsx';

export default function SettingsPage() {
  return <PageHead title="Settings" />;
}
