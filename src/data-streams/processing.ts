import type { ErrorDetail } from '../core/errors.ts'
import {
  check,
  duration,
  flag,
  type Json,
  oneOf,
  Problems,
  type Rules,
} from './definition-problems.ts'
import { isObject } from './field-map.ts'
import { retentionRule } from './retention.ts'

/** What may stand in `processing`. */
const rules: Rules = {
  frequency: duration,
  aggregation: oneOf('average', 'latest', 'min', 'max', 'sum', 'count'),
  validation: oneOf('strict', 'lenient'),
  alerting: anything,
  alertThresholds: anything,
  transform: anything,
  deduplicate: flag,
  retention: retentionRule,
}

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

/** What would be stored and then silently not be done. */
export function unsupportedProcessing(processing: Json): readonly ErrorDetail[] {
  return ['alerting', 'alertThresholds']
    .filter((key) => processing[key] !== undefined && processing[key] !== false)
    .map((key) => ({ path: `processing.${key}`, message: 'this version does not do that yet' }))
}

/** For what is known by name only: it is refused as unsupported. */
function anything(): void {}
