import { PageHead } from '../../shell/page-head.tsx';

export default function TaskPage({ number }: { number: number }) {
  return <PageHead title={`#${number}`} />;
}
