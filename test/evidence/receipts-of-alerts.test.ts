import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkReceiptText } from '../../src/ledgers/seals/check-receipt.ts'
import { RuledStream, tooHot } from '../support/alerting.ts'
import { ApiClient } from '../support/api-client.ts'
import { askReceipt, missingOf, type ReceiptReading, receiptOf } from '../support/receipts.ts'
import { answering } from '../support/receiver.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { testReceiver } from '../support/test-receiver.ts'

const receiver = await testReceiver()

const settings = {
  STREAMVAULT_EGRESS_ALLOW: receiver.destination,
  // What both consumers have passed stays for an eighth of it.
  STREAMVAULT_JOURNAL_MAX: '4MiB',
}

/** The time of the first reading of a `RuledStream`. */
const first = '2026-01-01T00:00:00.000000Z'

let process: ServiceProcess
let api: ApiClient

async function start(dataDir: string): Promise<void> {
  process = await startServiceProcess(dataDir, settings)
  api = new ApiClient(process.http)
}

beforeAll(async () => await start(newDataDir()))

afterAll(async () => {
  await process.end('SIGTERM')
  rmSync(process.dataDir, { recursive: true })
})

/** Changes the state while no service uses it. */
async function changeState(...statements: readonly string[]): Promise<void> {
  await process.end('SIGTERM')
  const file = new DatabaseSync(join(process.dataDir, 'state.db'))
  for (const statement of statements) file.exec(statement)
  file.close()
  await start(process.dataDir)
}

/** Sends readings to another stream until the journal has trimmed what came before. */
async function trimJournal(streamId: string, timestamp: string): Promise<ReceiptReading> {
  const other = await api.createStream({ text: { type: 'string' } })
  const text = 'x'.repeat(100_000)
  for (let sent = 0; sent < 10; sent++) {
    const body = { timestamp: new Date(sent * 1_000).toISOString(), text }
    expect((await api.withToken('POST', `/streams/${other}/data`, body)).status).toBe(202)
  }
  await api.settled(other, 10)
  let reading: ReceiptReading | undefined
  await expect
    .poll(async () => {
      ;[reading] = await receiptOf(api, streamId, timestamp)
      return reading && missingOf(reading)
    })
    .toContain('journal trimmed')
  return reading as ReceiptReading
}

async function webhook(): Promise<void> {
  const answer = await api.withToken('POST', '/webhooks', {
    url: receiver.url,
    events: ['stream.alert_triggered'],
    secret: 'a secret of thirty-two characters',
    retryCount: 2,
    retryDelay: 1,
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
}

/** The event of an alert's step, once each of its deliveries has ended. */
async function delivered(streamId: string, timestamp: string): Promise<ReceiptReading> {
  let reading: ReceiptReading | undefined
  await expect
    .poll(async () => {
      ;[reading] = await receiptOf(api, streamId, timestamp)
      return reading?.events.flatMap(({ deliveries }) => deliveries.map(({ state }) => state))
    })
    .toEqual(['delivered'])
  return reading as ReceiptReading
}

describe('a receipt of a reading that raised an alert', () => {
  test('names the steps, the event, and each attempt to deliver it', async () => {
    await webhook()
    const answers = [500, 503, 200]
    receiver.behaviour = (response, received) =>
      answering(answers[receiver.received.length - 1] ?? 200)(response, received)
    const stream = await RuledStream.make(api, tooHot)
    await stream.push(90, 20)

    const reading = await delivered(stream.id, first)

    const [step] = await stream.history()
    const alert = await stream.alert()
    expect(reading.alerts).toEqual([
      {
        alertId: alert.alertId,
        ruleId: 'too-hot',
        step: 0,
        cause: 'reading',
        from: 'ok',
        to: 'firing',
        at: first,
        journalOffset: reading.journal.offset,
        eventId: step?.eventId,
      },
    ])
    expect(reading.events).toMatchObject([
      {
        eventId: step?.eventId,
        type: 'stream.alert_triggered',
        deliveries: [
          {
            channel: 'webhook',
            state: 'delivered',
            attempts: [
              { attempt: 1, statusCode: 500, delivered: false },
              { attempt: 2, statusCode: 503, delivered: false },
              { attempt: 3, statusCode: 200, delivered: true },
            ],
          },
        ],
        inbox: [{ title: expect.stringContaining('alert') }],
      },
    ])
    const [clearing] = await receiptOf(api, stream.id, '2026-01-01T00:00:01Z')
    expect(clearing?.alerts).toMatchObject([{ from: 'firing', to: 'cleared', step: 1 }])
    const { body } = await askReceipt(api, stream.id, first)
    expect((await checkReceiptText(JSON.stringify(body), new Set())).verdict.is).toBe('not_found')
  })

  test('is that of the reading with its values, of several at one time', async () => {
    const stream = await RuledStream.make(api, tooHot)
    const body = [20, 95, 30].map((temperature) => ({ timestamp: first, temperature }))
    await api.withToken('POST', `/streams/${stream.id}/data`, body)
    await api.settled(stream.id, 3)

    const readings = await receiptOf(api, stream.id, first)

    const moved = readings.map(({ reading, alerts }) => {
      return `${String(reading?.['temperature'])}: ${alerts.map(({ to }) => to).join()}`
    })
    expect(new Set(moved)).toEqual(new Set(['20: ', '30: cleared', '95: firing']))
  })

  test('names the step of the timer that ran out after it', async () => {
    const stream = await RuledStream.make(api, { ...tooHot, for: '1s' })
    await stream.push(90)
    await expect.poll(async () => (await stream.alert()).state).toBe('firing')

    const [reading] = await receiptOf(api, stream.id, first)

    expect(reading?.alerts).toMatchObject([
      { step: 0, cause: 'reading', to: 'pending', eventId: null },
      { step: 1, cause: 'timer', from: 'pending', to: 'firing' },
    ])
    expect(reading?.events).toMatchObject([{ type: 'stream.alert_triggered' }])
  })
})

describe('a receipt when some of it is kept no longer', () => {
  let stream: RuledStream

  beforeEach(async () => {
    stream = await RuledStream.make(api, tooHot)
    await stream.push(90, 20)
    await api.settled(stream.id, 2)
  })

  test('has the place in the journal from the history of the alert', async () => {
    const [before] = await receiptOf(api, stream.id, first)

    const trimmed = await trimJournal(stream.id, first)

    expect(trimmed).toMatchObject({
      outcome: 'stored',
      text: before?.text,
      digest: before?.digest,
      arrival: { receivedAt: before?.arrival.receivedAt, kind: null },
      journal: { offset: before?.journal.offset, problem: { error: 'trimmed' } },
      definition: { version: 1, isExact: false },
      alerts: before?.alerts,
      events: before?.events,
    })
    expect(missingOf(trimmed)).toEqual(['journal trimmed', 'source not_kept', 'kind trimmed'])
  })

  test('shows a reading that is gone as the history of its alert has it', async () => {
    const range = `start=${first}&end=2026-01-01T00:00:01Z`
    expect((await api.withToken('DELETE', `/streams/${stream.id}/data?${range}`)).status).toBe(204)
    const [removed] = await receiptOf(api, stream.id, first)
    expect(removed).toMatchObject({ outcome: 'gone', text: expect.any(String) })

    const trimmed = await trimJournal(stream.id, first)

    expect(trimmed).toMatchObject({
      outcome: 'gone',
      reading: { timestamp: first, temperature: 90 },
      text: null,
      digest: null,
      journal: { offset: removed?.journal.offset, problem: { error: 'trimmed' } },
      alerts: removed?.alerts,
      verdict: { accepted: true },
      seal: null,
    })
    expect(missingOf(trimmed)).toContain('reading removed')
    expect(missingOf(trimmed)).toContain('text not_kept')
  })

  test('names events that have expired', async () => {
    const [before] = await receiptOf(api, stream.id, first)
    const [eventId] = before?.alerts.map((alert) => alert.eventId) ?? []
    await changeState(`DELETE FROM events WHERE id = '${eventId}'`)

    const [reading] = await receiptOf(api, stream.id, first)

    expect(reading?.alerts).toEqual(before?.alerts)
    expect(reading?.events).toMatchObject([{ eventId, type: null, at: null }])
    expect(reading && missingOf(reading)).toContain('events expired')
  })
})
