import { MetricPeriod, type Project } from '@tidemill/contract';
import type { MetricsSource } from './metrics.ts';
import { GAUGES } from './prometheus.ts';

const EXPORT_EVERY_MS = 60_000;

export interface OtlpExport {
  stop(): Promise<void>;
}

/** Sends a project's figures to an OpenTelemetry collector once a minute. The libraries are loaded only for that. */
export async function startOtlp(options: {
  url: string;
  project: Project;
  metrics: MetricsSource;
  everyMs?: number;
  onNote(text: string, error?: unknown): void;
}): Promise<OtlpExport> {
  const { url, project, metrics, onNote } = options;
  const [{ MeterProvider, PeriodicExportingMetricReader }, { OTLPMetricExporter }, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/sdk-metrics'),
      import('@opentelemetry/exporter-metrics-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url }),
    exportIntervalMillis: options.everyMs ?? EXPORT_EVERY_MS,
  });
  const resource = resourceFromAttributes({ 'service.name': 'tidemill', 'tidemill.project': project.name });
  const provider = new MeterProvider({ resource, readers: [reader] });
  const meter = provider.getMeter('tidemill');
  const gauges = GAUGES.map((each) => ({
    ...each,
    gauge: meter.createObservableGauge(each.name.replaceAll('_', '.'), { description: each.help }),
  }));
  meter.addBatchObservableCallback(
    async (result) => {
      for (const period of MetricPeriod.options) {
        const { workers, total } = await metrics.of(project, period);
        for (const { name: worker, ...figures } of [...workers, { ...total, name: 'all' }]) {
          for (const { gauge, value } of gauges) {
            const known = value(figures);
            if (known !== null) result.observe(gauge, known, { worker, period });
          }
        }
      }
    },
    gauges.map(({ gauge }) => gauge),
  );
  return {
    // The last figures go out; a collector that is gone must not hold up the end.
    stop: () => provider.shutdown().catch((error: unknown) => onNote(`the last figures did not reach ${url}`, error)),
  };
}
