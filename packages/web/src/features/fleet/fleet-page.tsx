import { PageHead } from '../../shell/page-head.tsx';

export default function FleetPage() {
  return <PageHead title="Fleet" />;
}
