import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fieldNameProblem } from '../../../src/contracts/definitions/field-map.ts'
import { FieldNames, isSecret } from '../../../src/streams/inference/names.ts'

describe('names of fields', () => {
  test.each([
    [['ENERGY', 'Power'], 'energy_power'],
    [['DS18B20-1', 'Temperature'], 'ds18b20_1_temperature'],
    [['params', 'switch:0', 'apower'], 'switch_0_apower'],
    [['rx_metadata', 0, 'rssi'], 'rx_metadata_0_rssi'],
    [['deviceInfo', 'devEui'], 'device_info_dev_eui'],
    [['count'], 'count_value'],
    [['239'], '_239'],
    [['°'], 'value'],
  ])('of %j is %s', (steps, name) => {
    expect(new FieldNames().take(steps)).toBe(name)
  })

  test('have more of their paths where others are called so', () => {
    const names = new FieldNames()
    const paths = [
      ['a', 'b', 'c'],
      ['x', 'b', 'c'],
      ['b', 'C'],
    ]

    expect(paths.map((steps) => names.take(steps))).toEqual(['b_c', 'x_b_c', 'b_c_value'])
  })

  test('are legal, and each is there once', () => {
    const step = fc.oneof(fc.string(), fc.nat({ max: 9 }), fc.constantFrom('count', 'a', 'A'))
    const paths = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { maxLength: 30 })
    fc.assert(
      fc.property(paths, (all) => {
        const names = new FieldNames()
        const taken = new Set<string>()

        for (const steps of all) {
          const name = names.take(steps)
          expect(fieldNameProblem(name, taken)).toBeUndefined()
          taken.add(name.toLowerCase())
        }
      }),
    )
  })

  test.each(['password', 'accessToken', 'API_KEY', 'wifi-psk', 'client_secret'])(
    '%s is that of a secret',
    (name) => {
      expect([isSecret(['a', name]), isSecret([name, 'a'])]).toEqual([true, true])
    },
  )

  test.each(['compass', 'keyframe', 'authentic', 'bypass', 'pint'])('%s is not', (name) => {
    expect(isSecret([name])).toBe(false)
  })
})
