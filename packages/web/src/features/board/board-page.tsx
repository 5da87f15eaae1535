import { PageHead } from '../../shell/page-head.tsx';

export default function BoardPage() {
  return <PageHead title="Board" />;
}
