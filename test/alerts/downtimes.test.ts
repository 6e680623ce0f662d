import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import type { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { type AlertBody, RuledStream } from '../support/alerting.ts'
import { decided, nowUs } from '../support/decided-journal.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { TestState } from '../support/test-state.ts'
import { acceptedReading } from '../support/written-entries.ts'

const second = 1_000_000
const minute = 60 * second
const silent = { id: 'silent', silentFor: '10m' }

const tests = await TestState.open()
afterAll(async () => await tests[Symbol.asyncDispose]())

const streamId = newId<StreamId>()
const stream = { streamId, version: 1 }

interface Happenings {
  readonly reading: Write
  readonly timer: Write
  /** Since some minutes before. */
  readonly downtime: (minutesBefore: number) => Write
}

type Write = (writer: EntryWriter) => void

/** What can happen at some minutes after the beginning. */
function at(minutes: number): Happenings {
  const atUs = nowUs + minutes * minute
  const digest = Math.round(minutes * 10)
    .toString(16)
    .padStart(16, '0')
  const reading = acceptedReading({ timestampUs: atUs, values: '{"temperature":9}', digest })
  return {
    reading: (writer) => writer.accepted(stream, reading, atUs),
    timer: (writer) => writer.alertTimer(stream, atUs, atUs),
    downtime: (minutesBefore) => (writer) => writer.downtime(atUs - minutesBefore * minute, atUs),
  }
}

/** Minutes after the beginning at which the silent stream is told of. */
async function toldAt(...entries: readonly Write[]): Promise<readonly number[]> {
  const journal = { streamId, versions: [[silent]], entries }
  const { history } = await decided(tests, journal, [entries.length])
  // Restarts after each entry change nothing.
  expect((await decided(tests, journal, [0])).history).toEqual(history)
  const steps = history as readonly { readonly to_state: string; readonly at: number }[]
  return steps
    .filter((step) => step.to_state === 'firing')
    .map((step) => (step.at - nowUs) / minute)
}

describe('silence while the service was away', () => {
  test('is told of when the stream was silent for as long as the rule says since the start', async () => {
    const told = await toldAt(at(0).reading, at(60).downtime(59), at(69).timer, at(70).timer)
    expect(told).toEqual([70])
  })

  test('is nothing of a stream that is heard soon after', async () => {
    expect(await toldAt(at(0).reading, at(60).downtime(59), at(69).reading)).toEqual([])
  })

  test('of a short time only puts off what would be told within as long after it', async () => {
    const nearly = await toldAt(at(0).reading, at(9).downtime(3), at(12).timer)
    const later = await toldAt(at(0).reading, at(5).downtime(3), at(10).timer)
    expect([nearly, later]).toEqual([[12], [10]])
  })

  test('of some seconds leaves a minute to come back', async () => {
    const told = await toldAt(at(0).reading, at(9.9).downtime(0.1), at(11).timer)
    expect(told).toEqual([10.9])
  })

  test('is no excuse for what ran out before', async () => {
    const told = await toldAt(at(0).reading, at(60).downtime(10), at(60).timer)
    expect(told).toEqual([10])
  })

  test('changes nothing about what was told before', async () => {
    const told = await toldAt(at(0).reading, at(10).timer, at(60).downtime(10), at(70).timer)
    expect(told).toEqual([10])
  })
})

test('a service that was stopped for longer tells of those who stay silent, and of nobody else', async () => {
  await using service = await FaultyService.start()
  // Long beside what a slow machine needs to start, and to send the first reading after it.
  const silentMs = 12_000
  const rule = { id: 'silent', silentFor: `${silentMs / 1_000}s` }
  const { id: alive } = await RuledStream.make(service.api, rule)
  const { id: dead } = await RuledStream.make(service.api, rule)
  for (const id of [alive, dead]) await new RuledStream(service.api, id).push(20)
  await service.api.settled(dead, 1)
  await service.kill()
  await sleep(silentMs + 1_000)
  const startedMs = Date.now()

  await service.restart()
  const heard = new RuledStream(service.api, alive)
  let fired: AlertBody | undefined
  await service.until('the other one is told of', async () => {
    await heard.push(21)
    fired = (await new RuledStream(service.api, dead).alerts()).at(0)
    return fired !== undefined
  })

  expect(Date.parse(fired?.triggeredAt ?? '')).toBeGreaterThanOrEqual(startedMs + silentMs)
  expect(await heard.alerts()).toEqual([])
})
