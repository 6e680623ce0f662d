import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { type FleetId, newId, type StreamId } from '../../src/core/ids.ts'
import { DeviceDirectory } from '../../src/streams/fleets/device-directory.ts'
import { type DeviceRoute, newStreamsMax } from '../../src/streams/fleets/new-streams.ts'

const fleetId = newId<FleetId>()

/** Streams of devices in memory, made when the test lets them be. */
class Streams {
  readonly made = new Map<string, StreamId>()
  readonly denied = new Set<string>()
  readonly asked: (readonly string[])[] = []
  failure: Error | undefined
  #gate = Promise.withResolvers<void>()

  constructor(isOpen = true) {
    if (isOpen) this.open()
  }

  open(): void {
    this.#gate.resolve()
  }

  async known(_: FleetId, devices: readonly string[]): Promise<ReadonlyMap<string, DeviceRoute>> {
    const found = devices.flatMap((device): [string, DeviceRoute][] => {
      if (this.denied.has(device)) return [[device, { problem: 'denied' }]]
      const streamId = this.made.get(device)
      return streamId === undefined ? [] : [[device, { streamId }]]
    })
    return new Map(found)
  }

  async make(id: FleetId, devices: readonly string[]): Promise<ReadonlyMap<string, DeviceRoute>> {
    this.asked.push(devices)
    await this.#gate.promise
    if (this.failure) throw this.failure
    for (const device of devices) {
      if (!this.made.has(device)) this.made.set(device, newId<StreamId>())
    }
    return await this.known(id, devices)
  }
}

describe('devices that come at once', () => {
  test('have their streams made together, in the order of their first messages', async () => {
    const streams = new Streams()
    const directory = new DeviceDirectory(streams)

    const routes = await Promise.all(
      ['c', 'a', 'c', 'b'].map((device) => directory.find(fleetId, device, true)),
    )

    expect(streams.asked).toEqual([['c', 'a', 'b']])
    expect(routes[0]).toEqual(routes[2])
    expect(directory.waiting).toBe(0)
  })

  test('are made in portions', async () => {
    const streams = new Streams()
    const directory = new DeviceDirectory(streams)
    const names = Array.from({ length: newStreamsMax + 1 }, (_, index) => `d${index}`)

    await Promise.all(names.map((device) => directory.find(fleetId, device, true)))

    expect(streams.asked.map(({ length }) => length)).toEqual([newStreamsMax, 1])
  })

  test('get one stream each, whatever comes in between', async () => {
    const step = fc.record({ device: fc.constantFrom('a', 'b', 'c'), forget: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const streams = new Streams()
        const directory = new DeviceDirectory(streams)
        const found = steps.map(async ({ device, forget }) => {
          if (forget) directory.forget({ fleetId, device })
          return [device, await directory.find(fleetId, device, true)] as const
        })
        for (const [device, route] of await Promise.all(found)) {
          expect(route.streamId).toBe(streams.made.get(device))
        }
      }),
    )
  })
})

test('beyond 20,000 devices that wait the next one is overloaded, and may come again', async () => {
  const streams = new Streams(false)
  const directory = new DeviceDirectory(streams)
  const waiting = Array.from({ length: 20_000 }, (_, index) =>
    directory.find(fleetId, `d${index}`, true),
  )

  const refused = directory.find(fleetId, 'one more', true)

  await expect(refused).rejects.toThrow(DomainError)
  await expect(refused).rejects.toMatchObject({ code: 'overloaded', retryable: true })
  streams.open()
  await Promise.all(waiting)
  expect(directory.waiting).toBe(0)
  expect((await directory.find(fleetId, 'one more', true)).streamId).toBeDefined()
})

test('the crowd of one fleet does not keep out the devices of another one', async () => {
  const streams = new Streams(false)
  const directory = new DeviceDirectory(streams)
  const crowd = Array.from({ length: 20_000 }, (_, index) =>
    directory.find(fleetId, `d${index}`, true),
  )
  const other = newId<FleetId>()

  const few = Array.from({ length: newStreamsMax }, (_, index) =>
    directory.find(other, `e${index}`, true),
  )

  await expect(directory.find(other, 'one more', true)).rejects.toThrow(DomainError)
  streams.open()
  for (const { streamId } of await Promise.all(few)) expect(streamId).toBeDefined()
  await Promise.all(crowd)
  expect(directory.waiting).toBe(0)
})

test('a failure reaches all that wait for it, and the next message tries again', async () => {
  const streams = new Streams()
  const directory = new DeviceDirectory(streams)
  streams.failure = new Error('the state is gone')

  const found = await Promise.allSettled([
    directory.find(fleetId, 'a', true),
    directory.find(fleetId, 'b', true),
  ])

  expect(found.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  streams.failure = undefined
  expect((await directory.find(fleetId, 'a', true)).streamId).toBe(streams.made.get('a'))
})

test('what is forgotten while it is made is not kept', async () => {
  const streams = new Streams(false)
  const directory = new DeviceDirectory(streams)
  const first = directory.find(fleetId, 'a', true)
  await Promise.resolve()
  directory.forget({ fleetId, device: 'a' })
  streams.open()
  await first

  expect(directory.cached(fleetId, 'a')).toBeUndefined()
  streams.denied.add('a')
  expect(await directory.find(fleetId, 'a', false)).toEqual({ problem: 'denied' })
})

test('a new device is unknown to who may make no streams', async () => {
  const streams = new Streams()
  const directory = new DeviceDirectory(streams)

  expect(await directory.find(fleetId, 'a', false)).toEqual({ problem: 'unknown' })
  expect(streams.asked).toEqual([])
})

test('messages that are not taken are counted, by the reason', async () => {
  const streams = new Streams()
  streams.denied.add('a')
  const directory = new DeviceDirectory(streams)

  await directory.find(fleetId, 'a', false)
  await directory.find(fleetId, 'a', true)
  directory.refused('full')
  directory.refused('unknown')

  expect(directory.refusals).toEqual({ denied: 2, full: 1 })
})
