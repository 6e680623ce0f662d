import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import { distinctRows, type Row, replayedSeries } from '../support/replayed-series.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const isMosquittoMissing = spawnSync('mosquitto_pub', ['--help']).error !== undefined
const advice = 'mosquitto_pub is missing: install the package mosquitto-clients'
/** In CI a missing tool is a failure; a person is told what to install. */
const isSkipped = isMosquittoMissing && !process.env['CI']
if (isSkipped) process.stderr.write(`The replays are skipped. ${advice}\n`)

const service = runningService()

describe.skipIf(isSkipped).each(replayedSeries())(
  '$name, replayed by mosquitto_pub',
  ({ rows }) => {
    const distinct = distinctRows(rows)
    let streamId: string
    let replayed: Replayed

    beforeAll(async () => {
      if (isMosquittoMissing) throw new Error(advice)
      streamId = await service.api.createStream({ value: { type: 'number', required: true } })
      replayed = await replay(streamId, rows)
    })

    test('is acknowledged to its last line', () => {
      expect(replayed).toEqual({ code: 0, printed: '' })
    })

    test('is counted exactly: each distinct reading stored, each copy a duplicate', async () => {
      expect(await service.api.settled(streamId, rows.length)).toEqual({
        received: rows.length,
        stored: distinct.length,
        duplicates: rows.length - distinct.length,
        unchanged: 0,
        filtered: 0,
        quarantined: 0,
        discarded: 0,
        pending: 0,
      })
    })

    test('is read back with every distinct reading once', async () => {
      await service.api.settled(streamId, rows.length)

      const points = await service.api.readAll(streamId)

      const found = points.map(({ timestamp, value }) => `${String(timestamp)} ${String(value)}`)
      const sent = distinct.map(
        ({ timestamp, value }) => `${timestamp.replace('Z', '.000000Z')} ${Number(value)}`,
      )
      expect(found.toSorted()).toEqual(sent.toSorted())
    })

    test('has the hourly averages that its rows have', async () => {
      await service.api.settled(streamId, rows.length)

      const points = await service.api.readAll(streamId, '&aggregation=hourly')

      const expected = hourlyAverages(distinct)
      expect(points.map(({ timestamp }) => timestamp)).toEqual([...expected.keys()])
      for (const { timestamp, value, count } of points) {
        const hour = expected.get(String(timestamp))
        expect(count).toBe(hour?.count)
        const average = hour?.average ?? Number.NaN
        expect(Math.abs(Number(value) - average)).toBeLessThanOrEqual(Math.abs(average) * 1e-9)
      }
    })
  },
)

interface Replayed {
  readonly code: number | null
  /** What mosquitto_pub complained of. */
  readonly printed: string
}

/** Sends each row as a message with QoS 1, and waits until mosquitto_pub leaves. */
async function replay(streamId: string, rows: readonly Row[]): Promise<Replayed> {
  const broker = ['-h', '127.0.0.1', '-p', String(service.process.mqttPort)]
  const credentials = ['-u', adminKey, '-P', adminSecret]
  const message = ['-t', `streams/${streamId}/data`, '-q', '1', '-l']
  const publisher = spawn('mosquitto_pub', [...broker, ...credentials, ...message])
  let printed = ''
  publisher.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  publisher.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const lines = rows.map(({ timestamp, value }) => `{"timestamp":"${timestamp}","value":${value}}`)
  publisher.stdin.end(`${lines.join('\n')}\n`)
  const [code] = (await once(publisher, 'close')) as [number | null]
  return { code, printed }
}

/** Count and average of each hour in ascending order, computed from the text of the rows alone. */
function hourlyAverages(
  rows: readonly Row[],
): Map<string, { readonly count: number; readonly average: number }> {
  const hours = new Map<string, number[]>()
  for (const { timestamp, value } of rows) {
    const hour = `${timestamp.slice(0, 13)}:00:00.000000Z`
    const values = hours.get(hour)
    if (values) values.push(Number(value))
    else hours.set(hour, [Number(value)])
  }
  return new Map(
    [...hours]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([hour, values]) => {
        // Smallest first, so that little is rounded away.
        const sorted = values.toSorted((left, right) => Math.abs(left) - Math.abs(right))
        const sum = sorted.reduce((total, one) => total + one, 0)
        return [hour, { count: values.length, average: sum / values.length }]
      }),
  )
}
