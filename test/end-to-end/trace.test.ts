import { connectAsync } from 'mqtt'
import { expect, test } from 'vitest'
import { leafHash, type MerklePath, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { checkReceiptText } from '../../src/ledgers/seals/check-receipt.ts'
import { readingText } from '../../src/ledgers/seals/reading-text.ts'
import type { SealProof } from '../../src/ledgers/seals/seal-proof.ts'
import { tooHot } from '../support/alerting.ts'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { streamvaultJson } from '../support/command-line.ts'
import { newPerson, type Person, personOf, vaultOf } from '../support/people.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { answering, Receiver } from '../support/receiver.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { type Page, webhooksAt } from '../support/webhook-client.ts'

/** What a receipt says of one reading, as far as this test follows it. */
interface ReadingReceipt {
  readonly outcome: string
  readonly reading: Readonly<Record<string, unknown>>
  readonly text: string
  readonly arrival: Readonly<Record<string, unknown>>
  readonly journal: { readonly offset: number | null }
  readonly definition: Readonly<Record<string, unknown>>
  readonly verdict: Readonly<Record<string, unknown>>
  readonly windows: readonly Readonly<Record<string, unknown>>[]
  readonly alerts: readonly Readonly<Record<string, unknown>>[]
  readonly events: readonly {
    readonly eventId: string
    readonly type: string
    readonly deliveries: readonly {
      readonly deliveryId: string
      readonly state: string
      readonly receiverId: string
      readonly attempts: readonly Readonly<Record<string, unknown>>[]
    }[]
    readonly inbox: readonly unknown[]
  }[]
  readonly seal: {
    readonly root: string
    readonly status: string
    readonly path: MerklePath | null
    readonly problem: unknown
    readonly proof: SealProof | null
  } | null
  readonly missing: readonly { readonly what: string; readonly reason: string }[]
}

interface Receipt {
  readonly format: string
  readonly streamId: string
  readonly timestamp: string
  readonly readings: readonly ReadingReceipt[]
}

interface Step {
  readonly offset: number
  readonly [field: string]: unknown
}

interface Attempt {
  readonly delivery_id: string
  readonly event_id: string
  readonly attempt: number
  readonly attempted_at: string
  readonly status_code: number
}

interface Explained {
  readonly steps: readonly {
    readonly step: Step
    readonly deliveries: readonly { readonly deliveryId: string; readonly webhookId: string }[]
  }[]
}

/** Its stretch ended long ago. */
const timestampUs = Date.UTC(2026, 2, 1, 12, 7) * 1_000
const timestamp = '2026-03-01T12:07:00.000000Z'
const temperature = tooHot.threshold + 1

/** A service with one reading that raised an alert, whose webhook has failed twice. */
class Traced implements AsyncDisposable {
  readonly folder: TemporaryFolder
  readonly receiver: Receiver
  readonly #environment: Readonly<Record<string, string>>
  #process: ServiceProcess
  #person: Person
  streamId = ''
  webhookId = ''

  static async start(others: Readonly<Record<string, string>> = {}): Promise<Traced> {
    const receiver = await Receiver.start()
    const environment = {
      STREAMVAULT_ANCHORING: 'on',
      STREAMVAULT_SEAL_GRACE: '200ms',
      STREAMVAULT_EGRESS_ALLOW: receiver.destination,
      ...others,
    }
    const folder = new TemporaryFolder()
    const process = await startServiceProcess(folder.file('data'), environment)
    const person = await newPerson(new ApiClient(process.http))
    const traced = new Traced({ folder, receiver, environment, process, person })
    await traced.#begin()
    return traced
  }

  private constructor(parts: {
    readonly folder: TemporaryFolder
    readonly receiver: Receiver
    readonly environment: Readonly<Record<string, string>>
    readonly process: ServiceProcess
    readonly person: Person
  }) {
    this.folder = parts.folder
    this.receiver = parts.receiver
    this.#environment = parts.environment
    this.#process = parts.process
    this.#person = parts.person
  }

  async #begin(): Promise<void> {
    const made = await this.#person.withToken<{ streamId: string }>('POST', '/streams', {
      name: 'temperature',
      vaultId: await vaultOf(this.#person),
      type: 'iot_sensor',
      schema: { temperature: { type: 'number' } },
      source: { protocol: 'mqtt' },
      processing: { alerting: [tooHot], seal: '15m', frequency: '1m', aggregation: 'average' },
    })
    this.streamId = made.body.streamId
    const webhook = await this.#person.withToken<{ webhookId: string }>('POST', '/webhooks', {
      url: this.receiver.url,
      events: ['stream.alert_triggered'],
      retryCount: 2,
      retryDelay: 1,
    })
    this.webhookId = webhook.body.webhookId
    this.receiver.behaviour = (response, received) =>
      answering(this.receiver.received.length < 3 ? 503 : 200)(response, received)
    const { apiKey: username, apiSecret: password } = this.#person.key
    const url = `mqtt://127.0.0.1:${this.#process.mqttPort}`
    const device = await connectAsync(url, { username, password })
    const payload = JSON.stringify({ timestamp, temperature })
    await device.publishAsync(`streams/${this.streamId}/data`, payload, { qos: 1 })
    await device.endAsync()
    await this.receiver.requests(3)
    await expect.poll(async () => (await this.reading()).seal?.status).toBe('COMPLETED')
    await expect.poll(async () => (await this.reading()).windows.length).toBe(1)
  }

  async get<Body>(path: string): Promise<Body> {
    const { withKey, withToken } = this.#person
    const asked = path.startsWith(webhooksAt) ? withKey : withToken
    const { status, body } = await asked<Body>('GET', path)
    expect([path, status]).toEqual([path, 200])
    return body
  }

  async receipt(): Promise<Receipt> {
    return await this.get(`/streams/${this.streamId}/receipts?timestamp=${timestamp}`)
  }

  /** What the receipt says of the one reading. */
  async reading(): Promise<ReadingReceipt> {
    const { readings } = await this.receipt()
    expect(readings).toHaveLength(1)
    return readings[0] as ReadingReceipt
  }

  async killed(): Promise<void> {
    await this.#process.end('SIGKILL')
    await this.#resume('data')
  }

  /** Goes on with what a backup has, in another folder. */
  async restored(): Promise<void> {
    const api = new ApiClient(this.#process.http)
    const { to } = await backUp(api, this.folder.file('backup'))
    await this.#process.end('SIGKILL')
    const dataDir = this.folder.file('restored')
    await streamvaultJson(['restore', '--from', to, '--data-dir', dataDir, '--verify'])
    await this.#resume('restored')
  }

  async #resume(name: string): Promise<void> {
    this.#process = await startServiceProcess(this.folder.file(name), this.#environment)
    this.#person = personOf(new ApiClient(this.#process.http), this.#person.key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end('SIGTERM')
    await this.receiver[Symbol.asyncDispose]()
    this.folder[Symbol.dispose]()
  }
}

/** That the receipt names every step of the reading, by the ids that others are shown. */
async function namesEveryStep(traced: Traced): Promise<void> {
  const { streamId, webhookId } = traced
  const reading = await traced.reading()
  expect(reading).toMatchObject({
    outcome: 'stored',
    reading: { timestamp, temperature },
    text: readingText(streamId, { timestampUs, values: { temperature } }),
    verdict: { accepted: true },
    windows: [{ start: timestamp, end: '2026-03-01T12:08:00.000000Z', revision: 1, count: 1 }],
  })

  const [alert] = await traced.get<readonly { alertId: string }[]>(`/streams/${streamId}/alerts`)
  const alertPath = `/alerts/${alert?.alertId}`
  const { steps } = await traced.get<{ steps: readonly Step[] }>(`${alertPath}/history`)
  expect(steps).toHaveLength(1)
  isInJournal(reading, Number(steps[0]?.offset))
  expect(reading.alerts).toMatchObject(
    steps.map(({ step, cause, from, to, at, offset, eventId }) => {
      const moved = { step, cause, from, to, at, eventId }
      return { ...moved, alertId: alert?.alertId, ruleId: tooHot.id, journalOffset: offset }
    }),
  )

  const attempts = await traced.get<Page<Attempt>>(`${webhooksAt}/${webhookId}/deliveries`)
  const inOrder = attempts.content.toSorted((one, other) => one.attempt - other.attempt)
  expect(inOrder.map(({ status_code: code }) => code)).toEqual([503, 503, 200])
  const [{ delivery_id: deliveryId, event_id: eventId } = {}] = inOrder
  expect(reading.events).toMatchObject([
    {
      eventId: steps[0]?.['eventId'],
      type: 'stream.alert_triggered',
      deliveries: [
        {
          deliveryId,
          channel: 'webhook',
          receiverId: webhookId,
          state: 'delivered',
          attempts: inOrder.map((one) => ({
            attempt: one.attempt,
            attemptedAt: one.attempted_at,
            statusCode: one.status_code,
          })),
        },
      ],
    },
  ])
  expect(reading.events[0]?.eventId).toBe(eventId)
  for (const { headers } of traced.receiver.received) {
    expect(headers['x-service-event-id']).toBe(eventId)
    expect(headers['x-service-delivery-id']).toBe(deliveryId)
  }

  const why = await traced.get<Explained>(`${alertPath}/explain`)
  expect(why.steps.map((one) => one.deliveries.map((delivery) => delivery.deliveryId))).toEqual([
    [deliveryId],
  ])
  const path = `${webhooksAt}/${webhookId}/deliveries/explain?eventId=${eventId}`
  expect(await traced.get(path)).toMatchObject({ outcome: 'delivered', attempts: 3 })

  isSealed(reading)
  const { verdict } = await checkReceiptText(JSON.stringify(await traced.receipt()), new Set())
  expect(verdict).toMatchObject({ is: 'proven_under_key' })
}

/** That its entry is named as long as it is there, and afterwards that it is not. */
function isInJournal({ arrival, journal, missing }: ReadingReceipt, offset: number): void {
  const { receivedAt, kind } = arrival
  expect(receivedAt).toEqual(expect.any(String))
  const trimmed = missing.filter(({ reason }) => reason === 'trimmed').map(({ what }) => what)
  if (kind === null) expect(trimmed).toEqual(expect.arrayContaining(['kind', 'journal']))
  else expect([kind, journal.offset, trimmed]).toEqual(['received', offset, []])
}

/** That the seal has the reading in it, and is on the ledger. */
function isSealed({ text, seal }: ReadingReceipt): void {
  expect(seal).toMatchObject({ status: 'COMPLETED', problem: null })
  const { path, root, proof } = seal ?? {}
  expect(path && rootBy(leafHash(text), path)?.toString('hex')).toBe(root)
  expect(JSON.parse(proof?.text ?? '{}')).toMatchObject({ root, count: 1 })
}

/** All but what the entry alone says, which goes when the journal is trimmed. */
function lasting({ readings, ...receipt }: Receipt): object {
  return {
    ...receipt,
    answeredAt: undefined,
    readings: readings.map((one) => ({
      ...one,
      journal: undefined,
      missing: undefined,
      arrival: { ...one.arrival, kind: undefined },
      definition: { ...one.definition, isExact: undefined },
    })),
  }
}

test('a receipt follows a reading to the receiver of its alert, also after a kill and a restore', async () => {
  await using traced = await Traced.start()
  await namesEveryStep(traced)
  const before = lasting(await traced.receipt())
  await traced.killed()
  await namesEveryStep(traced)
  expect(lasting(await traced.receipt())).toEqual(before)
  await traced.restored()
  await namesEveryStep(traced)
  expect(lasting(await traced.receipt())).toEqual(before)
})

test.skipIf(isQuestDbMissing)('a receipt follows a reading that QuestDB has stored', async () => {
  await using questDb = await QuestDb.start()
  const url = `questdb://127.0.0.1:${questDb.port}`
  await using traced = await Traced.start({ STREAMVAULT_TIMESERIES_URL: url })
  await namesEveryStep(traced)
  const before = lasting(await traced.receipt())
  await traced.killed()
  await namesEveryStep(traced)
  expect(lasting(await traced.receipt())).toEqual(before)
})
