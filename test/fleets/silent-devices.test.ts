import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FleetId, newId } from '../../src/core/ids.ts'
import type { Fleet } from '../../src/streams/fleets/fleet.ts'
import { FleetDeviceStore } from '../../src/streams/fleets/fleet-device-store.ts'
import { TestState } from '../support/test-state.ts'

/** Devices that one page looks at, as docs/decisions.md says. */
const lookedMax = 5_000

let tests: TestState

beforeAll(async () => {
  tests = await TestState.open()
})

afterAll(async () => {
  await tests[Symbol.asyncDispose]()
})

test('a page of silent devices looks at a bounded number, and its cursor leads on to all of them', async () => {
  const fleet = await fleetOf(2 * lookedMax + 500)
  const store = new FleetDeviceStore(tests.state)
  // Only the last 100 devices are silent.
  const silent = Array.from({ length: 100 }, (_, at) => nameOf(2 * lookedMax + 400 + at))
  const pages: string[][] = []
  const ends: (string | undefined)[] = []

  for (let after: string | undefined = ''; after !== undefined; after = ends.at(-1)) {
    const page = await store.list(fleet, { after, limit: 60, silentSinceUs: 1_000 })
    pages.push(page.devices.map(({ name }) => name))
    ends.push(page.next)
  }

  expect(pages).toEqual([[], [], silent.slice(0, 60), silent.slice(60)])
  expect(ends).toEqual([nameOf(lookedMax - 1), nameOf(2 * lookedMax - 1), silent[59], undefined])
})

const nameOf = (at: number) => `d${String(at).padStart(6, '0')}`

/** A fleet whose last 100 devices have sent at 500 µs, and all others at 2,000. */
async function fleetOf(count: number): Promise<Fleet> {
  const id = newId<FleetId>()
  const { state } = tests
  const rows = Array.from({ length: count }, (_, at) => ({
    fleet_id: id,
    name: nameOf(at),
    stream_id: `${id} ${at}`,
    version: 1,
    created_at: 0,
  }))
  for (let from = 0; from < count; from += 1_000) {
    const some = rows.slice(from, from + 1_000)
    const counters = some.map(({ stream_id }, at) => ({
      stream_id,
      received: 1,
      accepted: 1,
      quarantined: 0,
      discarded: 0,
      quarantine_bytes: 0,
      filtered: 0,
      is_discarding: 0,
      last_received_at: from + at < count - 100 ? 2_000 : 500,
      day: 0,
      received_on_day: 1,
    }))
    await tests.commit(
      state.insertInto('fleet_devices').values(some),
      state.insertInto('stream_counters').values(counters),
    )
  }
  return { id, version: 1 } as Fleet
}
