import type {
  AcceptedReading,
  Allowance,
  Judge,
  RefusedReading,
  Verdict,
} from '../src/contracts/reading.ts'
import type { FieldMap } from '../src/contracts/stream-schema.ts'
import { fieldsAfter, type TransformStep } from '../src/contracts/transform-step.ts'
import { type Canonicaliser, canonicaliserOf } from './canonical.ts'
import { membersOf } from './mapped-reading.ts'
import { type RunStep, stepsOf } from './transform.ts'

/**
 * A judge that also transforms what it accepts. The identity of a reading stays that of what was
 * sent (decisions.md#identity-of-a-reading), so a repetition is found whatever the transform makes
 * of it.
 */
export function transforming(
  judge: Judge,
  fields: FieldMap,
  transform: readonly TransformStep[],
): Judge {
  const steps = stepsOf(fields, transform)
  const names = Object.keys(fields)
  const nameAfter = namesAfter(names, transform)
  const canonicalise = storedCanonicaliser(fieldsAfter(fields, transform))

  return (reading, receipt) => {
    const verdict = judge(reading, receipt)
    if (!verdict.accepted || verdict.isFiltered) return verdict
    const values = declaredValues(membersOf(reading) as Readonly<Record<string, unknown>>, names)
    const other = runAll(steps, transform, { values, verdict, allowance: receipt.allowance })
    if (other !== undefined) return other
    const flagged = verdict.flagged.flatMap((name) => nameAfter.get(name) ?? [])
    return { ...verdict, values: canonicalise(values).values, flagged }
  }
}

/** The fields of a reading that its schema declares, free to be changed. */
export function declaredValues(
  reading: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  // Without a prototype: a field may be named like what every object inherits.
  const values = Object.create(null) as Record<string, unknown>
  for (const name of names) if (Object.hasOwn(reading, name)) values[name] = reading[name]
  return values
}

/** What transformed readings are written down with; they carry no time of their own any more. */
function storedCanonicaliser(fields: FieldMap): Canonicaliser {
  return canonicaliserOf({
    fields,
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  })
}

interface Running {
  readonly values: Record<string, unknown>
  readonly verdict: AcceptedReading
  readonly allowance: Allowance | undefined
}

/** Changes the values; a verdict when they come to nothing. */
function runAll(
  steps: readonly RunStep[],
  transform: readonly TransformStep[],
  { values, verdict, allowance }: Running,
): Verdict | undefined {
  const { timestampUs, digest } = verdict
  for (const [index, run] of steps.entries()) {
    const outcome = run(values, timestampUs, allowance)
    if (outcome === undefined) continue
    if (outcome.isFiltered) return { accepted: true, isFiltered: true, timestampUs, digest }
    return transformFailed(transform, { index, problem: outcome.problem }, timestampUs)
  }
  return undefined
}

function transformFailed(
  transform: readonly TransformStep[],
  { index, problem }: { readonly index: number; readonly problem: string },
  timestampUs: number,
): RefusedReading {
  const [kind = ''] = Object.keys(transform[index] ?? {})
  return {
    accepted: false,
    reason: 'transform_failed',
    message: `step ${index} of the transform (${kind}): ${problem}`,
    details: [{ path: `processing.transform.${index}.${kind}`, message: problem }],
    timestampUs,
  }
}

/** What becomes of the names of fields; a value out of range keeps its mark until it is replaced. */
function namesAfter(
  names: readonly string[],
  transform: readonly TransformStep[],
): ReadonlyMap<string, string> {
  let current = names.map((name) => ({ name, now: name }))
  for (const step of transform) {
    if ('rename' in step) {
      const { from, to } = step.rename
      current = current.map(({ name, now }) => ({ name, now: now === from ? to : now }))
    }
    const gone = 'drop' in step ? step.drop.field : 'derive' in step ? step.derive.field : undefined
    current = current.filter(({ now }) => now !== gone)
  }
  return new Map(current.map(({ name, now }) => [name, now]))
}
