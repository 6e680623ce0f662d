import { expect, test } from 'vitest'
import { Alarms } from '../../../src/streams/sources/schedules/alarms.ts'
import { FakeTime } from '../../support/fake-time.ts'

const noon = '2026-06-01T12:00:00Z'

function alarmsAtNoon() {
  const time = new FakeTime(noon)
  const alarms = new Alarms(time)
  const rung: string[] = []
  const at = (text: string, name = text) =>
    alarms.at(Date.parse(text) * 1_000, () => void rung.push(name))
  return { time, rung, at }
}

test('rings at the time, in order, and not before', async () => {
  const { time, rung, at } = alarmsAtNoon()
  at('2026-06-01T12:00:02Z', 'third')
  at('2026-06-01T12:00:01Z', 'first')
  at('2026-06-01T12:00:01Z', 'second')

  await time.pass(999)
  expect(rung).toEqual([])
  await time.pass(1)
  expect(rung).toEqual(['first', 'second'])
  await time.pass(1_000)
  expect(rung).toEqual(['first', 'second', 'third'])
})

test('rings at once for a time that has passed', async () => {
  const { time, rung, at } = alarmsAtNoon()
  at('2026-06-01T11:00:00Z')
  await time.pass(1)
  expect(rung).toHaveLength(1)
})

test('rings months ahead', async () => {
  const { time, rung, at } = alarmsAtNoon()
  at('2026-08-01T00:00:00Z')
  await time.passUntil('2026-07-31T23:59:59Z')
  expect(rung).toEqual([])
  await time.passUntil('2026-08-01T00:00:00Z')
  expect(rung).toHaveLength(1)
})

test('rings for nobody who has cancelled', async () => {
  const { time, rung, at } = alarmsAtNoon()
  const cancel = at('2026-06-01T12:00:01Z', 'first')
  at('2026-06-01T12:00:01Z', 'second')
  cancel()
  cancel()
  await time.pass(5_000)
  expect(rung).toEqual(['second'])
})

test('has one timer for all that wait, and none for none', async () => {
  const { time, rung, at } = alarmsAtNoon()
  const cancels = Array.from({ length: 1_000 }, (_, second) =>
    at(new Date(Date.parse(noon) + second).toISOString()),
  )
  expect(time.timers).toBe(1)
  for (const cancel of cancels) cancel()
  expect(time.timers).toBe(0)
  at('2026-06-01T12:00:01Z')
  await time.pass(1_000)
  expect(rung).toHaveLength(1)
  expect(time.timers).toBe(0)
})

test('looks at the clock twice a minute and no more while everybody waits for longer', async () => {
  const { time, at } = alarmsAtNoon()
  for (let one = 0; one < 1_000; one++) at('2026-06-02T12:00:00Z')
  const before = time.timersSet
  await time.pass(3_600_000)
  expect(time.timersSet - before).toBe(120)
})

test('rings within half a minute when the clock was set forward', async () => {
  const { time, rung, at } = alarmsAtNoon()
  at('2026-06-02T12:00:00Z')
  await time.pass(10_000)
  time.set('2026-06-03T00:00:00Z')
  await time.pass(30_000)
  expect(rung).toHaveLength(1)
})

test('rings for everybody when the clock was set back, so that they decide anew', async () => {
  const { time, rung, at } = alarmsAtNoon()
  at('2026-06-01T12:10:00Z', 'second')
  at('2026-06-01T12:05:00Z', 'first')
  await time.pass(60_000)
  expect(rung).toEqual([])
  time.set('2026-05-01T12:00:00Z')
  await time.pass(30_000)
  expect(rung).toEqual(['first', 'second'])
})

test('takes a clock that goes back by less than a second for the same', async () => {
  const { time, rung, at } = alarmsAtNoon()
  at('2026-06-01T12:05:00Z')
  await time.pass(30_000)
  time.set('2026-06-01T12:00:29.500Z')
  await time.pass(1)
  expect(rung).toEqual([])
  await time.passUntil('2026-06-01T12:05:00Z')
  expect(rung).toHaveLength(1)
})

test('one who rings may set the next one', async () => {
  const time = new FakeTime(noon)
  const alarms = new Alarms(time)
  let rung = 0
  const again = (): void => {
    rung++
    alarms.at(time.nowUs() + 1_000_000, again)
  }
  alarms.at(time.nowUs(), again)
  await time.pass(10_001)
  expect(rung).toBe(11)
})
