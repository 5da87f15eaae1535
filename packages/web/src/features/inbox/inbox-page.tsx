import { PageHead } from '../../shell/page-head.tsx';

export default function InboxPage() {
  return <PageHead title="Inbox" />;
}
