import { canonicalJson } from '../../core/canonical-json.ts'
import { formatUs } from '../../core/time.ts'

/** A stored reading: its time, and its values after transform. */
interface StoredValues {
  readonly timestampUs: number
  readonly values: Readonly<Record<string, unknown>>
  /** Fields that the schema of its version does not declare. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/**
 * The canonical text of a stored reading, whose leaf hash a seal covers: equal in every store, and for a field that
 * was undeclared once and is declared now.
 */
export function readingText(streamId: string, point: StoredValues): string {
  const { timestampUs, values, extra } = point
  // A field is declared or extra, and never both. From entries, because a field may be `__proto__`.
  const fields = Object.fromEntries([...Object.entries(extra ?? {}), ...Object.entries(values)])
  return canonicalJson({ stream: streamId, time: formatUs(timestampUs), values: fields })
}
