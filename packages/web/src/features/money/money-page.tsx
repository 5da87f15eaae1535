import { PageHead } from '../../shell/page-head.tsx';

export default function MoneyPage() {
  return <PageHead title="Money" />;
}
