import { PageHead } from '../../shell/page-head.tsx';

export default function ConflictsPage({ number }: { number: number | null }) {
  return <PageHead title={number === null ? 'Conflicts' : `Conflict of #${number}`} />;
}
