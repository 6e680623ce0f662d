import type { Receipt, RefusedReading } from '../src/contracts/reading.ts'
import type { StreamSchema } from '../src/contracts/stream-schema.ts'
import type { TransformStep } from '../src/contracts/transform-step.ts'
import type { ErrorDetail } from '../src/core/errors.ts'
import { judgeOf } from './index.ts'
import { membersOf } from './mapped-reading.ts'
import { stepsOf } from './transform.ts'
import { declaredValues } from './transforming.ts'

/** What would become of a reading. */
export interface Preview {
  readonly status: 'stored' | 'filtered' | 'refused'
  /** The declared fields after each step, as far as they were run. */
  readonly steps: readonly Readonly<Record<string, unknown>>[]
  readonly reason?: string
  readonly message?: string
  readonly details?: readonly ErrorDetail[]
}

/** Shows what a transform makes of readings, step by step. Pure, and stores nothing. */
export function previewOf(
  schema: StreamSchema,
  transform: readonly TransformStep[],
): (reading: unknown, receipt: Receipt) => Preview {
  const judgeAsSent = judgeOf(schema)
  const judge = judgeOf(schema, transform)
  const steps = stepsOf(schema.fields, transform)
  const names = Object.keys(schema.fields)

  return (reading, receipt) => {
    const verdict = judge(reading, receipt)
    const asSent = judgeAsSent(reading, receipt)
    const shown: Readonly<Record<string, unknown>>[] = []
    if (asSent.accepted) {
      const values = declaredValues(membersOf(reading) as Readonly<Record<string, unknown>>, names)
      for (const run of steps) {
        if (run(values, asSent.timestampUs) !== undefined) break
        shown.push({ ...values })
      }
    }
    if (verdict.accepted) {
      return { status: verdict.isFiltered ? 'filtered' : 'stored', steps: shown }
    }
    return refusedPreview(verdict, shown)
  }
}

/** What is shown of a reading that is refused. */
export function refusedPreview(
  { reason, message, details }: RefusedReading,
  steps: Preview['steps'] = [],
): Preview {
  return { status: 'refused', steps, reason, message, details }
}
