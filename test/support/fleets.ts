import { randomUUID } from 'node:crypto'
import type { MqttClient } from 'mqtt'
import { expect } from 'vitest'
import type { Answer } from './api-client.ts'
import type { Person } from './people.ts'

/** A fleet as the interface shows it. */
export interface ShownFleet {
  readonly fleetId: string
  readonly name: string
  readonly vaultId: string
  readonly definition: object
  readonly tags: Readonly<Record<string, string>>
  readonly streamsMax: number
  readonly streams: number
  readonly version: number
  readonly change: {
    readonly version: number
    readonly total: number
    readonly done: number
    readonly failed: number
  } | null
}

/** A device of a fleet as the interface shows it. */
export interface ShownFleetDevice {
  readonly name: string
  readonly streamId: string | null
  readonly createdAt: string
  readonly lastReceivedAt: string | null
  readonly denied: boolean
  readonly version: number
}

/** What a fleet of thermometers is made with, whose topic no other fleet has. */
export function fleetOf(vaultId: string, changes: object = {}) {
  const mark = randomUUID().slice(0, 8)
  const definition = {
    type: 'iot_sensor',
    source: { topic: `tele-${mark}/{device}/SENSOR` },
    schema: { temperature: { type: 'number' } },
  }
  return { name: `fleet ${mark}`, vaultId, definition, ...changes }
}

/** Waits until a stream has so many readings stored. */
export async function storedIn(person: Person, streamId: string, count: number): Promise<void> {
  const stored = async () => {
    const path = `/streams/${streamId}/status`
    const { body } = await person.withToken<{ counters?: { stored: number } }>('GET', path)
    return body.counters?.stored
  }
  await expect.poll(stored, { timeout: 20_000 }).toBe(count)
}

/** A fleet of a person that devices publish to. */
export class TestFleet {
  readonly id: string
  readonly path: string
  readonly #person: Person
  readonly #topic: string

  constructor(person: Person, { fleetId, definition }: ShownFleet) {
    this.#person = person
    this.id = fleetId
    this.path = `/fleets/${fleetId}`
    this.#topic = (definition as { source: { topic: string } }).source.topic
  }

  static async make(person: Person, vaultId: string, changes: object = {}): Promise<TestFleet> {
    const wanted = fleetOf(vaultId, changes)
    const { status, body } = await person.withToken<ShownFleet>('POST', '/fleets', wanted)
    expect(status, JSON.stringify(body)).toBe(201)
    return new TestFleet(person, body)
  }

  topicOf(device: string): string {
    return this.#topic.replace('{device}', device)
  }

  async publish(mqtt: MqttClient, device: string, reading: object): Promise<void> {
    await mqtt.publishAsync(this.topicOf(device), JSON.stringify(reading), { qos: 1 })
  }

  async read(): Promise<ShownFleet> {
    return (await this.#person.withToken<ShownFleet>('GET', this.path)).body
  }

  async device(name: string): Promise<ShownFleetDevice> {
    const path = `${this.path}/devices/${encodeURIComponent(name)}`
    return (await this.#person.withToken<ShownFleetDevice>('GET', path)).body
  }

  async devices(query = ''): Promise<readonly ShownFleetDevice[]> {
    const found: ShownFleetDevice[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: string = cursor === '' ? query : `${query}&cursor=${cursor}`
      const { body }: Answer<{ devices: ShownFleetDevice[]; nextCursor: string | null }> =
        await this.#person.withToken('GET', `${this.path}/devices?${page}`)
      found.push(...body.devices)
      cursor = body.nextCursor
    }
    return found
  }

  async streamOf(device: string): Promise<string> {
    return (await this.device(device)).streamId ?? ''
  }

  async act<Body>(device: string, deed: string, body?: object): Promise<Answer<Body>> {
    const path = `${this.path}/devices/${encodeURIComponent(device)}/${deed}`
    return await this.#person.withToken<Body>('POST', path, body)
  }

  /** Waits until all streams have the version of the fleet. */
  async settled(): Promise<void> {
    await expect.poll(async () => (await this.read()).change, { timeout: 20_000 }).toBeNull()
  }
}
