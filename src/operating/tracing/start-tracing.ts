import type { Logger } from 'pino'
import { productVersion } from '../../config/product-version.ts'
import type { TracingSettings } from '../../config/tracing.ts'
import type { Tracing } from '../../core/tracing.ts'

/** The traces of a thread. Their library is loaded only where there is somewhere to send them to. */
export async function startTracing(
  settings: TracingSettings | undefined,
  logger: Logger,
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined
  const { openTracing } = await import('./open-tracing.ts')
  const onTrouble = (message: string) => logger.warn(message)
  return openTracing({ settings, version: productVersion(), onTrouble })
}
