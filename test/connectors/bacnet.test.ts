import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bacnetPoll } from '../../connectors/bacnet/bacnet-poll.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { BacnetDevice, pollOnce, tags } from '../support/bacnet-device.ts'

let device: BacnetDevice

beforeAll(async () => {
  device = await BacnetDevice.start()
  device.set('0:1:85', tags.REAL, 21.3)
  device.set('0:1:81', tags.BOOLEAN, true)
  device.set('0:1:103', tags.ENUMERATED, 7)
  device.set('0:1:28', tags.CHARACTER_STRING, 'Zulüft')
  device.set('0:1:111', tags.BIT_STRING, { bitsUsed: 4, value: [15] })
  device.set('0:2:85', tags.REAL, Number.NaN)
  device.set('3:1:85', tags.ENUMERATED, 1)
  device.set('3:1:103', tags.ENUMERATED, 9)
  device.set('28:1:85', tags.ENUMERATED, 1)
  device.set('4:1:85', tags.ENUMERATED, 0)
  device.set('2:1:85', tags.NULL, null)
  device.set('46:1:85', tags.DOUBLE, 1e300)
  device.set('48:1:85', tags.UNSIGNED_INTEGER, 4_000_000_000)
  device.set('45:1:85', tags.SIGNED_INTEGER, -3)
  device.set('600:9:1234', tags.UNSIGNED_INTEGER, 5)
  for (let instance = 100; instance < 150; instance++) {
    device.set(`0:${instance}:85`, tags.REAL, instance)
  }
})

afterAll(async () => await device[Symbol.asyncDispose]())

beforeEach(() => {
  device.asked.length = 0
  device.hasMultiple = true
  device.multipleMax = Number.POSITIVE_INFINITY
  device.error = undefined
})

const supply = { field: 'supply', object: 'analog-input:1' }
const fan = { field: 'fan', object: 'binary-input:1' }

const source = (...objects: readonly object[]) => ({ endpoint: device.endpoint, objects })

const many = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    field: `f${index}`,
    object: `analog-input:${index + 100}`,
  }))

const read = Object.fromEntries(many(50).map(({ field }, index) => [field, index + 100]))

const failure = async (polled: Promise<unknown>) => {
  const error = await polled.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error as Error
}

describe('a device of BACnet', () => {
  test('gives values of each kind', async () => {
    const polled = await pollOnce(
      source(
        supply,
        fan,
        { field: 'off', object: '4:1' },
        { field: 'out', object: 'analog-input:1', property: 'out-of-service' },
        { field: 'fault', object: 'analog-input:1', property: 'reliability' },
        { field: 'about', object: 'analog-input:1', property: 'description' },
        { field: 'large', object: 'large-analog-value:1' },
        { field: 'count', object: 'positive-integer-value:1' },
        { field: 'scaled', object: 'integer-value:1', scale: 0.1, offset: 1 },
        { field: 'own', object: '600:9', property: 1234 },
        { field: 'shed', object: 'load-control:1' },
        { field: 'worn', object: 'binary-input:1', property: 'reliability' },
      ),
    )
    expect(polled).toBe(
      '{"supply":21.3,"fan":true,"off":false,"out":true,"fault":7,"about":"Zulüft",' +
        '"large":1e+300,"count":4000000000,"scaled":0.7,"own":5,"shed":1,"worn":9}',
    )
    expect(device.asked).toHaveLength(1)
  })

  test('leaves out what has no value', async () => {
    const none = { field: 'none', object: 'analog-value:1' }
    const nan = { field: 'nan', object: 'analog-input:2' }
    expect(await pollOnce(source(none, supply, nan))).toBe('{"supply":21.3}')
  })

  test.each([true, false])('is asked for the properties one by one if need be: %s', async (has) => {
    device.hasMultiple = has
    expect(JSON.parse(await pollOnce(source(...many(50))))).toEqual(read)
    expect(device.asked.map(({ length }) => length)).toEqual(
      has ? [20, 20, 10] : [20, ...Array<number>(50).fill(1)],
    )
  })

  test('is asked for less where it has no room for an answer', async () => {
    device.multipleMax = 5
    expect(JSON.parse(await pollOnce(source(...many(20))))).toEqual(
      Object.fromEntries(Object.entries(read).slice(0, 20)),
    )
    expect(device.asked.map(({ length }) => length)).toEqual([20, 10, 5, 5, 10, 5, 5])
  })

  test.each([1, 2])('refuses what it does not have, by name, of %i', async (count) => {
    const others = count === 1 ? [] : [supply]
    const object = { field: 'exhaust', object: 'analog-input:77' }
    const error = await failure(pollOnce(source(...others, object)))
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toBe(
      'the device does not give present-value of analog-input:77 (exhaust): unknown object',
    )
    const property = { ...supply, property: 'setpoint' }
    const other = await failure(pollOnce(source(...others.map(() => fan), property)))
    expect(other).toBeInstanceOf(SourceRefused)
    expect(other.message).toContain('setpoint of analog-input:1 (supply): unknown property')
  })

  test('is asked again later where it has an error that may pass', async () => {
    device.error = [0, 3]
    const error = await failure(pollOnce(source(supply)))
    expect(error).not.toBeInstanceOf(SourceRefused)
    expect(error.message).toContain('device busy')
    expect((await failure(pollOnce(source(supply, fan)))).message).toContain('device busy')
  })

  test('has properties that no field can have', async () => {
    const flags = { ...supply, property: 111 }
    const error = await failure(pollOnce(source(flags, fan)))
    expect(error).toBeInstanceOf(SourceRefused)
    expect(error.message).toContain('(supply) is of a kind that no field can have')
  })

  test('that is not there is found out at once', async () => {
    await device.stop()
    try {
      expect((await failure(pollOnce(source(supply)))).message).toContain('ECONNREFUSED')
    } finally {
      await device.start()
    }
  })

  test('is left at once when a round is to end', async () => {
    const gone = AbortSignal.abort(new Error('stopped'))
    expect((await failure(pollOnce(source(supply), { signal: gone }))).message).toBe('stopped')
  })
})

const destinationOf = (endpoint: string) => bacnetPoll().destinationOf({ endpoint })

test('a port that nobody names is that of BACnet', () => {
  expect(destinationOf('bacnet://ahu')).toEqual({ host: 'ahu', port: 47_808 })
  expect(destinationOf('bacnet://[::1]:1502')).toEqual({ host: '::1', port: 1502 })
})
