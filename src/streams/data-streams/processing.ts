import { isObject } from '../../contracts/definitions/field-map.ts'
import {
  check,
  duration,
  flag,
  type Json,
  oneOf,
  Problems,
  type Rules,
} from '../../contracts/definitions/problems.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { retentionRule } from './retention.ts'

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

/** For what is looked at once it is known which fields are stored. */
function later(): void {}
