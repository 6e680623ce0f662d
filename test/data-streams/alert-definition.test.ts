import { describe, expect, test } from 'vitest'
import { DomainError, type ErrorDetail } from '../../src/core/errors.ts'
import { alertRulesOf } from '../../src/streams/data-streams/alert-definition.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { storedFieldsOf } from '../../src/streams/data-streams/transform-definition.ts'

const schema = {
  temperature: { type: 'number' },
  level: { type: 'integer' },
  door: { type: 'boolean' },
  mode: { type: 'string' },
  seen: { type: 'datetime' },
  place: { type: 'object' },
}

function parsed(processing: object) {
  const vaultId = '01234567-89ab-4def-8123-456789abcdef'
  return parseDefinition({ name: 'boiler', vaultId, type: 'iot_sensor', schema, processing })
}

/** The rules that a definition comes to. */
function rulesOf(processing: object) {
  const definition = parsed(processing)
  return alertRulesOf(definition.processing, storedFieldsOf(definition))
}

/** What is wrong with a definition. */
function problemsOf(processing: object): readonly ErrorDetail[] {
  try {
    parsed(processing)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    expect(error.code).toBe('invalid_request')
    return error.details ?? []
  }
  throw new Error('the definition was accepted')
}

const isHot = { field: 'temperature', operator: '>', threshold: 80 }
const atOnce = { severity: 'warning', forUs: 0, clearForUs: 0 }
const minuteUs = 60_000_000

describe('alert rules', () => {
  test('by field are short for two rules with ids of their own', () => {
    expect(rulesOf({ alertThresholds: { temperature: { min: -5, max: 80 } } })).toEqual([
      { ...atOnce, id: 'temperature.min', field: 'temperature', operator: '<', threshold: -5 },
      { ...atOnce, id: 'temperature.max', field: 'temperature', operator: '>', threshold: 80 },
    ])
  })

  test('by field may have a severity and durations', () => {
    const bounds = { max: 80, severity: 'critical', for: '5m', clearFor: '1h' }

    expect(rulesOf({ alertThresholds: { temperature: bounds } })).toEqual([
      {
        id: 'temperature.max',
        field: 'temperature',
        operator: '>',
        threshold: 80,
        severity: 'critical',
        forUs: 5 * minuteUs,
        clearForUs: 60 * minuteUs,
      },
    ])
  })

  test.each([
    [isHot, 'temperature.above'],
    [{ ...isHot, function: 'avg', window: '5m' }, 'temperature.avg.5m.above'],
    [{ ...isHot, function: 'rate' }, 'temperature.rate.above'],
    [{ function: 'count', window: '1h', operator: '<', threshold: 1 }, 'count.1h.below'],
    [{ silentFor: '15m' }, 'silent'],
    [{ silentFor: '15m', field: 'door' }, 'door.silent'],
    [{ condition: 'temperature > 80.0 && !door' }, 'condition'],
    [{ ...isHot, id: 'too-hot' }, 'too-hot'],
  ])('are named after what they are about: %j is %s', (rule, id) => {
    expect(rulesOf({ alerting: [rule] }).map((each) => each.id)).toEqual([id])
  })

  test('may stand under the name of their field', () => {
    const { field: _, ...rest } = isHot

    expect(rulesOf({ alertThresholds: { temperature: [rest] } })).toEqual(
      rulesOf({ alerting: [isHot] }),
    )
  })

  test('of both keys are taken together', () => {
    const rules = rulesOf({ alertThresholds: { level: { min: 1 } }, alerting: [isHot] })

    expect(rules.map(({ id }) => id)).toEqual(['level.min', 'temperature.above'])
  })

  test('are about the fields as they are after the transform', () => {
    const derived = { field: 'kelvin', expression: 'temperature + 273.15' }
    const rule = { field: 'kelvin', operator: '>', threshold: 350 }

    expect(rulesOf({ transform: [{ derive: derived }], alerting: [rule] })).toHaveLength(1)
  })

  test.each([false, null])('are none where %s stands for them', (none) => {
    expect(rulesOf({ alerting: none, alertThresholds: {} })).toEqual([])
    expect(rulesOf({ alerting: [], alertThresholds: none })).toEqual([])
  })
})

const average = { field: 'temperature', function: 'avg', window: '5m' }
const compared = { operator: '>', threshold: 80 }

describe('an alert rule is refused', () => {
  test.each<[string, object, string, string]>([
    ['of an unknown field', { ...isHot, field: 'heat' }, 'field', 'must be one of the fields'],
    ['of no field', compared, 'field', 'is required'],
    ['without operator', { field: 'level', threshold: 1 }, 'operator', 'is required'],
    ['without threshold', { field: 'level', operator: '>' }, 'threshold', 'is required'],
    ['of an unknown operator', { ...isHot, operator: '=' }, 'operator', 'must be one of >, >='],
    ['of an unknown severity', { ...isHot, severity: 'high' }, 'severity', 'must be one of info'],
    ['with an unknown key', { ...isHot, when: 'now' }, 'when', 'is not known'],
    ['with an id of spaces', { ...isHot, id: 'too hot' }, 'id', 'must be 1 to 128 letters'],
    ['with an id that is too long', { ...isHot, id: 'x'.repeat(129) }, 'id', 'must be 1 to 128'],
    ['with a bad duration', { ...isHot, for: '5 minutes' }, 'for', 'must be a duration'],
    ['with a duration of nothing', { ...isHot, clearFor: '0s' }, 'clearFor', 'must be a duration'],
    [
      'that waits for years',
      { ...isHot, for: '367d' },
      'for',
      'must be a duration from 1s to 366d',
    ],
    ['with a text for a number', { ...isHot, threshold: '80' }, 'threshold', 'of the type number'],
    ['with a list', { ...isHot, threshold: [80] }, 'threshold', 'must be a number, true'],
    [
      'with a text that is too long',
      { field: 'mode', operator: '==', threshold: 'x'.repeat(257) },
      'threshold',
      'a text of at most 256 characters',
    ],
    [
      'that orders texts',
      { field: 'mode', operator: '>', threshold: 'auto' },
      'operator',
      'must be == or != for what is of the type string',
    ],
    [
      'that orders what is true or false',
      { field: 'door', operator: '<', threshold: true },
      'operator',
      'must be == or !=',
    ],
    [
      'that compares a time',
      { field: 'seen', operator: '==', threshold: 'x' },
      'field',
      'is of the type datetime, which cannot be compared',
    ],
    [
      'that clears above its upper threshold',
      { ...isHot, clearThreshold: 81 },
      'clearThreshold',
      'must not be above the threshold 80',
    ],
    [
      'that clears below its lower threshold',
      { ...isHot, operator: '<', clearThreshold: 79 },
      'clearThreshold',
      'must not be below the threshold 80',
    ],
    [
      'with hysteresis of an equality',
      { ...isHot, operator: '==', clearThreshold: 80 },
      'clearThreshold',
      'does not go with ==',
    ],
    ['of an unknown function', { ...average, ...compared, function: 'p95' }, 'function', 'one of'],
    [
      'of a function without window',
      { ...isHot, function: 'avg' },
      'window',
      'is required for avg',
    ],
    ['of a window without function', { ...isHot, window: '5m' }, 'window', 'needs a function'],
    [
      'of a rate with a window',
      { ...isHot, function: 'rate', window: '5m' },
      'window',
      'does not go with rate',
    ],
    [
      'of the average of a text',
      { ...average, ...compared, field: 'mode' },
      'function',
      'takes numbers, and mode is of the type string',
    ],
    [
      'of the last of a text that is compared with a number',
      { field: 'mode', function: 'last', window: '1m', operator: '==', threshold: 1 },
      'threshold',
      'must be of the type string',
    ],
    ['of silence with a threshold', { ...isHot, silentFor: '5m' }, 'threshold', 'does not go with'],
    [
      'of silence for some time',
      { silentFor: '5m', for: '1m' },
      'for',
      'does not go with silentFor',
    ],
    [
      'of a condition of a field',
      { condition: 'door', field: 'door' },
      'field',
      'does not go with',
    ],
    ['of a condition without sense', { condition: 'door &&' }, 'condition', ''],
    [
      'of a condition about no field',
      { condition: 'heat > 1' },
      'condition',
      'there is no field heat',
    ],
    [
      'of a condition that is a number',
      { condition: 'x'.repeat(2_001) },
      'condition',
      'must be a text',
    ],
  ])('%s', (_, rule, key, message) => {
    expect(problemsOf({ alerting: [rule] })).toContainEqual(
      expect.objectContaining({
        path: `processing.alerting.0.${key}`,
        message: expect.stringContaining(message),
      }),
    )
  })

  test.each([
    ['about a field that there is not', { heat: { max: 1 } }, 'processing.alertThresholds.heat'],
    ['without a bound', { level: {} }, 'processing.alertThresholds.level'],
    [
      'with an unknown key',
      { level: { max: 1, maximum: 2 } },
      'processing.alertThresholds.level.maximum',
    ],
    [
      'with a bound that is a text',
      { level: { max: '1' } },
      'processing.alertThresholds.level.max',
    ],
    ['of what is no number', { mode: { max: 1 } }, 'processing.alertThresholds.mode'],
    [
      'with bounds the wrong way round',
      { level: { min: 2, max: 1 } },
      'processing.alertThresholds.level.min',
    ],
    ['that are a text', 'hot', 'processing.alertThresholds'],
    ['that are true', true, 'processing.alertThresholds'],
    [
      'under the name of another field',
      { level: [isHot] },
      'processing.alertThresholds.level.0.field',
    ],
  ])('with bounds %s', (_, alertThresholds, path) => {
    expect(problemsOf({ alertThresholds }).map((problem) => problem.path)).toEqual([path])
  })

  test('with the id of another one, whichever key it stands under', () => {
    const processing = {
      alertThresholds: { temperature: { max: 80 } },
      alerting: [{ ...isHot, id: 'temperature.max' }],
    }

    expect(problemsOf(processing)).toEqual([
      {
        path: 'processing.alerting.0.id',
        message: 'is temperature.max, the same as that of processing.alertThresholds.temperature',
      },
    ])
  })

  test('as one too many', () => {
    const rules = Array.from({ length: 51 }, (_, index) => ({ ...isHot, id: `r${index}` }))

    expect(rulesOf({ alerting: rules.slice(1) })).toHaveLength(50)
    expect(problemsOf({ alerting: rules })).toEqual([
      {
        path: 'processing.alerting.50',
        message: 'is one more than the 50 alert rules of a stream',
      },
    ])
  })

  test('only with all that is wrong with it, each by its path', () => {
    const problems = problemsOf({ alerting: [{ ...isHot, for: 'x', clearFor: 'y' }, 'z'] })

    expect(problems.map(({ path }) => path)).toEqual([
      'processing.alerting.0.for',
      'processing.alerting.0.clearFor',
      'processing.alerting.1',
    ])
  })
})
