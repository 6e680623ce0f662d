import { isObject } from '../../contracts/definitions/field-map.ts'
import {
  check,
  duration,
  flag,
  type Json,
  oneOf,
  Problems,
  type Rule,
  type Rules,
} from '../../contracts/definitions/problems.ts'
import { durationUs } from '../../core/duration.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { retentionRule } from './retention.ts'

/** Each stretch costs a seal, and in a longer one nothing would be proven for a day. */
const [sealUsMin, sealUsMax] = [900_000_000, 86_400_000_000]

const sealRule: Rule = (value, key, problems) => {
  const us = durationUs(value)
  if (us !== undefined && us >= sealUsMin && us <= sealUsMax) return
  problems.add(key, 'must be a duration from 15m to 24h, such as 1h')
}

/** Rules of the keys of `processing`. */
const rules: Rules = {
  frequency: duration,
  aggregation: oneOf('average', 'latest', 'min', 'max', 'sum', 'count'),
  validation: oneOf('strict', 'lenient'),
  alerting: later,
  alertThresholds: later,
  transform: later,
  deduplicate: flag,
  retention: retentionRule,
  seal: sealRule,
}

/** All that can be said of the processing. */
export const processingKeys = Object.keys(rules)

/** Reads what is to be done with readings; what is wrong with it is added to the problems. */
export function parseProcessing(value: unknown, found: ErrorDetail[]): Json {
  if (value === undefined) return {}
  if (!isObject(value)) {
    found.push({ path: 'processing', message: 'must be an object' })
    return {}
  }
  check(value, { rules }, new Problems('processing', found))
  return value
}

/**
 * How long the stretches of event time are, aligned to the epoch, whose readings are sealed, in microseconds; nothing for
 * a stream without seals.
 */
export function sealedEveryUs({ seal }: Json): number | undefined {
  return durationUs(seal)
}

/** For what is looked at once it is known which fields are stored. */
function later(): void {}
