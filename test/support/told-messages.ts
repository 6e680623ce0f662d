import { expect } from 'vitest'
import type { ApiClient } from './api-client.ts'

/** What each test front sends: one reading that its stream takes at once, and one that it takes once it is mended. */
export const toldPayloads = ['{"level":1}', '{"level":50}'] as const

/** A stream whose fields are read beside its messages. */
export class ToldStream {
  readonly id: string
  readonly #api: ApiClient
  readonly #fields: object

  private constructor(api: ApiClient, id: string, fields: object) {
    this.#api = api
    this.id = id
    this.#fields = fields
  }

  /** @param fields beside `level`, by their names */
  static async make(
    api: ApiClient,
    fields: object,
    rest: { readonly type?: string; readonly source?: object } = {},
  ): Promise<ToldStream> {
    const narrow = { ...fields, level: { type: 'number', range: [0, 10] } }
    const processing = { validation: 'strict' }
    return new ToldStream(api, await api.createStream(narrow, { ...rest, processing }), fields)
  }

  /** One that was made in another way, of which nothing is refused. */
  static of(api: ApiClient, id: string, fields: object): ToldStream {
    return new ToldStream(api, id, fields)
  }

  /** Resolves when its source is running. */
  async reached(): Promise<void> {
    await expect
      .poll(async () => (await this.#api.status(this.id))['source'])
      .toMatchObject({ state: 'running' })
  }

  /** Waits for both readings, the second one by way of the quarantine. */
  async has(told: object): Promise<void> {
    expect(await this.#api.settled(this.id, 2)).toMatchObject({ stored: 1, quarantined: 1 })
    expect(await this.#api.readAll(this.id)).toMatchObject([{ level: 1, ...told }])
    const path = `/streams/${this.id}`
    const schema = { ...this.#fields, level: { type: 'number' } }
    const changed = await this.#api.withToken('PUT', path, { schema })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    await this.#api.withToken('POST', `${path}/quarantine/redrive`, {})
    await expect
      .poll(async () => (await this.#api.status(this.id)).counters)
      .toMatchObject({ stored: 2, quarantined: 0 })
    const readings = await this.#api.readAll(this.id)
    expect(
      readings.toSorted((one, other) => Number(one['level']) - Number(other['level'])),
    ).toMatchObject([
      { level: 1, ...told },
      { level: 50, ...told },
    ])
  }
}
