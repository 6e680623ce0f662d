import type { Operations } from '../../../../../clients/typescript/call.ts'
import type { Reading } from '../../../../../clients/typescript/operations.ts'
import { api } from '../../../api/client.ts'

export type Preview = Operations['previewTransform']['answer']['results'][number]
type Validated = Operations['validateReadings']['answer']
export type Verdict = Validated['readings'][number]

/** What would become of a sample. */
export interface TrialResult {
  /** By the draft, step by step. */
  readonly previews: readonly Preview[]
  /** By the definition as it is, as it would be stored; undefined where the draft is another one. */
  readonly verdicts: readonly Verdict[] | undefined
}

/** Kinds of text that a sample can be, beside JSON. */
export const rawTypes = [
  'application/x-ndjson',
  'text/csv',
  'text/plain',
  'application/senml+json',
] as const

export type RawType = (typeof rawTypes)[number]

/** A pause in typing that is taken for its end. */
const quietMs = 350

/** Resolves when nothing was typed for a moment. @throws DOMException when something was */
export async function quiet(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, quietMs)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('typed on', 'AbortError'))
    })
  })
}

interface Tried {
  readonly streamId: string
  readonly readings: readonly unknown[]
  /** A definition that is not saved. */
  readonly change: Readonly<Record<string, unknown>> | undefined
  /** Whether the key may ask for what would be stored. */
  readonly mayValidate: boolean
}

/** Tries readings by a draft, or by the definition as it is. @throws ApiFailure */
export async function tryReadings(
  { streamId, readings, change, mayValidate }: Tried,
  signal: AbortSignal,
): Promise<TrialResult> {
  const path = { streamId }
  const body = { readings, ...(change && { definition: change }) }
  const isAsSaved = change === undefined && mayValidate
  const [preview, validated] = await Promise.all([
    api.call('previewTransform', { path, body, signal }),
    isAsSaved
      ? api.call('validateReadings', { path, body: readings as readonly Reading[], signal })
      : undefined,
  ])
  return { previews: preview.results, verdicts: validated?.readings }
}

/** Tries a text of another kind, as a device would send it. @throws ApiFailure */
export async function tryText(
  streamId: string,
  raw: { readonly type: RawType; readonly content: string },
  signal: AbortSignal,
): Promise<TrialResult> {
  const { readings } = await api.call('validateReadings', { path: { streamId }, raw, signal })
  return { previews: [], verdicts: readings }
}
